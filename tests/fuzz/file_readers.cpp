// Readers of files that hold tensors, called on bytes as a fuzzer gives them.
#include <ebb/checkpoint.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "fuzz/file_targets.h"
#include "fuzz/reading.h"
#include "support/zip.h"

namespace fuzz {
namespace {

using ebb::Tensor;

template <class Named>
void look_at_all(const Named& tensors) {
  for (const auto& [name, tensor] : tensors) look_at(tensor);
}

// A folder with two files of tensors, which is gone at the end.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() / ("ebb_fuzz_index_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
    ebb::safetensors::write(at("a.safetensors"), {{"x", ebb::ones({2})}, {"y", ebb::ones({1, 2})}});
    ebb::safetensors::write(at("b.safetensors"), {{"z", ebb::ones({3})}});
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string at(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

bool read_torch(std::string_view bytes) {
  ebb::serialize::InputArchive archive;
  std::istringstream stream{std::string(bytes)};
  if (!accepted([&] { ebb::pytorch::parse(bytes.data(), bytes.size()); })) return false;
  // Any value can be had as a state or an archive, or refused.
  accepted([&] { look_at_all(ebb::pytorch::state_dict(ebb::pytorch::parse(bytes.data(), bytes.size()))); });
  if (accepted([&] { archive.load_from(stream); })) look_at_all(archive.tensors());
  return true;
}

bool read_torch_pickle(std::string_view bytes) {
  const std::string numbers(16, '\x3f');
  return read_torch(ebb_test::zip({{"x/data.pkl", std::string(bytes)}, {"x/data/0", numbers}}));
}

bool read_npy(std::string_view bytes) {
  Tensor read;
  if (!accepted([&] { read = ebb::npy::parse(bytes.data(), bytes.size()); })) return false;
  look_at(read);
  return true;
}

bool read_npz(std::string_view bytes) {
  std::istringstream stream{std::string(bytes)};
  ebb::npy::NamedTensors read;
  if (!accepted([&] { read = ebb::npy::read_npz(stream); })) return false;
  look_at_all(read);
  return true;
}

bool read_index(std::string_view bytes) {
  static const Folder folder;
  const std::string path = folder.at("model.safetensors.index.json");
  std::ofstream(path, std::ios::binary) << bytes;
  return accepted([&] {
    const ebb::safetensors::ShardedReader reader(path);
    for (const std::string& name : reader.keys()) look_at(reader.get_tensor(name));
  });
}

bool read_checkpoint(std::string_view bytes) {
  ebb::nn::Linear model(2, 1);
  ebb::optim::SGD optimizer(model->parameters(), ebb::optim::SGDOptions(0.1).momentum(0.9));
  std::int64_t epoch = 0;
  std::string name;
  const MemoryFile file(bytes);
  ebb::Checkpoint run(file.path());
  run.add("model", model).add("optimizer", optimizer).add("epoch", epoch).add("name", name);
  const Tensor before = model->weight.detach().clone();
  const bool taken = accepted([&] { run.load(); });
  look_at(model->weight);
  EBB_CHECK(taken || (epoch == 0 && ebb::equal(model->weight, before)),
            "a checkpoint that is refused has changed something.");
  return taken;
}

}  // namespace fuzz
