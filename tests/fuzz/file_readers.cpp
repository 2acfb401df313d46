// Readers of files that hold tensors, called on bytes as a fuzzer gives them.
#include <ebb/checkpoint.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "fuzz/file_targets.h"
#include "fuzz/reading.h"
#include "support/files.h"
#include "support/zip.h"

namespace fuzz {
namespace {

using ebb::Tensor;

template <class Named>
void look_at_all(const Named& tensors) {
  for (const auto& [name, tensor] : tensors) look_at(tensor);
}

// A folder with two files of tensors.
std::filesystem::path folder_of_two() {
  const std::filesystem::path folder = support::own_folder() / "index";
  std::filesystem::create_directories(folder);
  ebb::safetensors::write((folder / "a.safetensors").string(),
                          {{"x", ebb::ones({2})}, {"y", ebb::ones({1, 2})}});
  ebb::safetensors::write((folder / "b.safetensors").string(), {{"z", ebb::ones({3})}});
  return folder;
}

}  // namespace

bool read_torch(std::string_view bytes) {
  ebb::serialize::InputArchive archive;
  std::istringstream stream{std::string(bytes)};
  if (!accepted([&] { ebb::pytorch::parse(bytes.data(), bytes.size()); })) return false;
  // Any value can be had as a state or an archive, or refused.
  accepted([&] { look_at_all(ebb::pytorch::state_dict(ebb::pytorch::parse(bytes.data(), bytes.size()))); });
  if (accepted([&] { archive.load_from(stream); })) look_at_all(archive.tensors());
  ebb::nn::Linear model(2, 2);
  ebb::optim::Adam adam(model->parameters(), ebb::optim::AdamOptions(0.1));
  std::istringstream for_model{std::string(bytes)}, for_optimizer{std::string(bytes)};
  accepted([&] { ebb::load(model, for_model); });
  accepted([&] { ebb::load(adam, for_optimizer); });
  look_at(model->weight);
  return true;
}

bool read_torch_pickle(std::string_view bytes) {
  const std::string numbers(16, '\x3f');
  return read_torch(support::zip({{"x/data.pkl", std::string(bytes)}, {"x/data/0", numbers}}));
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

bool read_packed_npz(std::string_view bytes) {
  // Gzip puts 10 bytes before the packed ones, and 8 behind.
  const std::string packed = gzip(bytes);
  support::ZipEntry entry("a.npy", std::string(bytes));
  entry.bytes = packed.substr(10, packed.size() - 18);
  entry.packed = static_cast<std::uint32_t>(entry.bytes.size());
  entry.method = 8;
  return read_npz(support::zip({entry}));
}

bool read_index(std::string_view bytes) {
  static const std::filesystem::path folder = folder_of_two();
  const std::string path = (folder / "model.safetensors.index.json").string();
  std::ofstream(path, std::ios::binary) << bytes;
  return accepted([&] {
    const ebb::safetensors::ShardedReader reader(path);
    for (const std::string& name : reader.keys()) look_at(reader.get_tensor(name));
  });
}

bool read_shard(std::string_view bytes) {
  static const std::filesystem::path folder = folder_of_two();
  const std::string index = (folder / "shard.index.json").string();
  std::ofstream(index) << R"({"weight_map":{"x":"shard","z":"b.safetensors"}})";
  std::ofstream(folder / "shard", std::ios::binary) << bytes;
  return accepted([&] {
    const ebb::safetensors::ShardedReader reader(index);
    for (const std::string& name : reader.keys())
      if (reader.file_of(name).is_supported(name)) look_at(reader.get_tensor(name));
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
