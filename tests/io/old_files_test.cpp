// Files that an older ebb wrote (data/old_files.cpp) are read with the same result.
#include "io/old_files.h"

#include <ebb/checkpoint.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include "support/catch.h"
#include "support/files.h"

#include <filesystem>

using namespace ebb;

namespace {

const safetensors::File& kept() {
  static const safetensors::File file =
      safetensors::read(source_dir() + "/tests/io/data/old_files.safetensors");
  return file;
}

// The path of an original file in a folder of this program.
std::string file(const std::string& name) {
  static const std::filesystem::path folder = [] {
    const std::filesystem::path at = support::own_folder() / "old_files";
    for (const auto& [key, bytes] : kept().tensors)
      if (key.starts_with("file."))
        support::write_file(at / key.substr(5), {static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
    return at;
  }();
  return (folder / name).string();
}

void check_same(const Variable& read, const Variable& expected) {
  CHECK(read.dtype() == expected.dtype());
  CHECK(equal(read, expected));
}

}  // namespace

TEST_CASE("tensors that an older ebb saved are read from all formats") {
  const auto tensors = old_files::of_every_dtype();
  const safetensors::File whole = safetensors::read(file("dtypes.safetensors"));
  CHECK(whole.metadata.at("made") == "by ebb");
  const safetensors::ShardedReader sharded(file("sharded"));
  const auto pt = pytorch::read_state_dict(file("dtypes.pt")),
             archive = pytorch::read_state_dict(file("archive.pt"));
  REQUIRE(whole.tensors.size() == tensors.size());
  REQUIRE(sharded.keys().size() == tensors.size());
  REQUIRE(pt.size() == tensors.size());
  REQUIRE(archive.size() == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, expected] = tensors[i];
    INFO(name);
    check_same(whole.at(name), expected);
    check_same(sharded.get_tensor(name), expected);
    CHECK(pt[i].first == name);
    check_same(pt[i].second, expected);
    CHECK(archive[i].first == name);
    check_same(archive[i].second, expected);
  }
  check_same(npy::read(file("array.npy")), tensors[0].second);
  const auto arrays = npy::read_npz(file("arrays.npz"));
  REQUIRE(arrays.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    check_same(arrays[i].second, tensors[i == 0 ? 0 : i == 1 ? 4 : 9].second);
  Variable one;
  load(one, file("tensor.safetensors"));
  check_same(one, arange(5));
  std::vector<Variable> list;
  load(list, file("list.safetensors"));
  REQUIRE(list.size() == 2);
  check_same(list[0], arange(5));
  check_same(list[1], full({2}, 0.5));
}

TEST_CASE("modules and values that an older ebb saved are read") {
  for (const char* const name : {"module.safetensors", "module.pt"}) {
    nn::Linear model(2, 1);
    load(model, file(name));
    CHECK(equal(old_files::weights(model), old_files::weights(old_files::model())));
  }
  const pytorch::Value values = pytorch::read(file("values.pt"));
  CHECK(values.at("epoch").as_int() == 3);
  CHECK(values.at("name").as_string() == "a");
  CHECK(values.at("lr").as_double() == 0.25);
  CHECK(values.at("on").as_bool());
  CHECK(values.at("none").is_none());
  CHECK(values.at("list").at(1).as_int() == 2);
  CHECK(equal(values.at("w").as_tensor(), tensor({{0.5F, -0.25F}})));
  const data::Vocabulary words = data::Vocabulary::load(file("words.txt"));
  CHECK(words.tokens() == std::vector<std::string>{"?", "the", "and", "cat", "dog"});
  CHECK(words.index("bird") == 0);
}

TEST_CASE("training resumes exactly from optimizers that an older ebb saved") {
  for (const auto& [name, make] : old_files::optimizers()) {
    INFO(name);
    nn::Linear model(2, 1);
    const Variable& before = kept().at("before." + name);
    {
      NoGradGuard no_grad;
      model->weight.copy_(before.narrow(0, 0, 2).view({1, 2}));
      model->bias.copy_(before.narrow(0, 2, 1));
    }
    const auto optimizer = make(model->parameters());
    load(*optimizer, file(name + ".optimizer"));
    old_files::steps(model, *optimizer, 1);
    CHECK(allclose(old_files::weights(model), kept().at("after." + name), 1e-6, 1e-7));
  }
}

TEST_CASE("a run resumes exactly from a checkpoint that an older ebb saved") {
  nn::Linear model(2, 1);
  optim::SGD sgd(model->parameters(), optim::SGDOptions(0.3).momentum(0.9));
  optim::StepLR scheduler(sgd, 2, 0.5);
  std::int64_t epoch = 0;
  std::string name;
  Checkpoint run(file("run.ckpt"));
  run.add("model", model).add("optimizer", sgd).add("scheduler", scheduler).add("epoch", epoch);
  REQUIRE(run.add("name", name).load());
  CHECK(epoch == 2);
  CHECK(name == "a run");
  CHECK(equal(old_files::weights(model), kept().at("before.run")));
  CHECK(equal(rand({4}), kept().at("drawn")));
  scheduler.step();
  old_files::steps(model, sgd, 1);
  CHECK(allclose(old_files::weights(model), kept().at("after.run"), 1e-6, 1e-7));
  // The generator state alone.
  Variable state;
  load(state, file("generator.safetensors"));
  set_rng_state(state);
  CHECK(equal(rand({4}), kept().at("drawn")));
}
