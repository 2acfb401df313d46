// Readers of tensor files, called with the bytes of a fuzzer, and valid seeds.
#include <ebb/checkpoint.h>
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include "fuzz/targets.h"
#include "support/files.h"
#include "support/zip.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace fuzz {
namespace {

using ebb::Tensor;

template <class Named>
void look_at_all(const Named& tensors) {
  for (const auto& [name, tensor] : tensors) look_at(tensor);
}

// A folder with two tensor files.
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
  // Any value can be read as a state or an archive, or refused.
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
  // The gzip format has 10 bytes before the compressed data and 8 bytes after it.
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

// Valid tensor files as seeds.

namespace {

using namespace std::string_literals;
using ebb::Tensor;
using ebb::pytorch::Dict;
using ebb::pytorch::List;
using ebb::pytorch::Tuple;

template <class Write>
std::string written(const Write& write) {
  std::ostringstream stream;
  write(stream);
  return stream.str();
}

// Helpers that write pickles.
std::string text(const std::string& value) {
  return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + value;
}
std::string numbers_of(const std::string& sizes, const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" + text("0") +
         text("cpu") + "K\4tQK\0("s + sizes + "t(" + strides + "t\x89" + "ccollections\nOrderedDict\n)RtR";
}
const std::string kHalf = "G\x3f\xe0\0\0\0\0\0\0"s;

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  const std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return "\x93NUMPY\1\0"s + static_cast<char>(header.size()) + "\0"s + header + data;
}

}  // namespace

std::vector<std::string> torch_seeds() {
  const Tensor x = ebb::arange(6, ebb::kFloat).view({2, 3});
  const std::string data = source_dir() + "/tests/io/data/";
  return {written([&](auto& to) {
            ebb::pytorch::write(to, Dict{{"w", x}, {"t", x.t()}, {"epoch", 3}, {"on", List{true, Tuple()}}});
          }),
          written([&](auto& to) {
            ebb::pytorch::write_archive(to, Dict{{"a", Dict{{"w", x}}}, {"lr", 0.5}, {"n", List{1, 2}}});
          }),
          support::read_file(data + "legacy.pt"), support::read_file(data + "libtorch_tensors.pt")};
}

std::vector<std::string> torch_pickle_seeds() {
  const std::string w = numbers_of("K\2K\2", "K\2K\1"), n = numbers_of("", "");
  return {
      "\x80\2}q\0("s + text("w") + w + text("n") + n + "u.",
      // the state_dict of an optimizer
      "\x80\2}(" + text("state") + "}K\0}("s + text("step") + n + text("exp_avg") + w + "us" +
          text("param_groups") + "]}(" + text("lr") + kHalf + text("betas") + kHalf + kHalf + "\x86" +
          text("fused") + "N" + text("params") + "]K\0auau."s,
      // an archive of libtorch
      "\x80\2c__torch__\nModule\n)\x81}(" + text("0") + "c__torch__\nModule1\n)\x81}(" + text("w") + w +
          text("k") + "ctorch.jit._pickle\nbuild_intlist\n](K\1K\2e\x85R" + "ubub.",
      "\x80\4\x95\0\0\0\0\0\0\0\0]\x94(K\1\x8a\2\0\1J\1\2\3\4N\x88\x8c\1a\x94h\1e."s,
  };
}

std::vector<std::string> npy_seeds() {
  return {npy("<f4", "(2,)", "12345678"), npy(">i2", "(2, 1, 2)", "abcdefgh"), npy("|b1", "()", "\1"),
          npy("|u1", "(3, 0)", "")};
}

std::vector<std::string> npz_seeds() {
  std::vector<std::string> arrays = npy_seeds();
  return {support::zip({{"a.npy", arrays[0]}, {"b.npy", arrays[1]}}), support::zip({{"c.npy", arrays[2]}})};
}

std::vector<std::string> packed_npz_seeds() { return npy_seeds(); }

std::vector<std::string> shard_seeds() {
  std::vector<std::string> seeds;
  for (const ebb::safetensors::NamedTensors& tensors :
       {ebb::safetensors::NamedTensors{{"x", ebb::ones({2})}, {"n", ebb::arange(3)}},
        ebb::safetensors::NamedTensors{{"x", ebb::zeros({2, 2}, ebb::kHalf)}}})
    seeds.push_back(written([&](auto& to) { ebb::safetensors::write(to, tensors); }));
  return seeds;
}

std::vector<std::string> index_seeds() {
  return {R"({"metadata":{"total_size":28},"weight_map":{"x":"a.safetensors","z":"b.safetensors"}})",
          R"({"weight_map":{"y":"a.safetensors","x":"a.safetensors"}})", R"({"weight_map":{}})"};
}

std::vector<std::string> checkpoint_seeds() {
  const std::string path = support::temporary("checkpoint.safetensors");
  ebb::nn::Linear model(2, 1);
  ebb::optim::SGD optimizer(model->parameters(), ebb::optim::SGDOptions(0.1).momentum(0.9));
  std::int64_t epoch = 2;
  std::string name = "a";
  ebb::Checkpoint run(path);
  run.add("model", model).add("optimizer", optimizer).add("epoch", epoch).add("name", name);
  std::vector<std::string> seeds;
  for (int i = 0; i < 2; ++i) {
    run.save();
    seeds.push_back(support::read_file(path));
    model(ebb::ones({1, 2})).sum().backward();
    optimizer.step();
  }
  std::filesystem::remove(path);
  return seeds;
}

}  // namespace fuzz
