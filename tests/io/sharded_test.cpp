// Sharded checkpoints: several safetensors files with an index.
#include <ebb/ebb.h>
#include <ebb/io/sharded.h>

#include "support/catch.h"
#include "support/files.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace ebb;
using support::Contains;

namespace {

std::string folder(const char* name) {
  const auto path = support::own_folder() / name;
  std::filesystem::remove_all(path);
  return path.string();
}

safetensors::NamedTensors state_of(const nn::Module& module) {
  safetensors::NamedTensors tensors;
  for (const auto& item : module.state_dict()) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

}  // namespace

TEST_CASE("a sharded checkpoint is loaded by its index or its folder") {
  nn::Sequential net(nn::Linear(4, 4), nn::Linear(4, 4)), again(nn::Linear(4, 4), nn::Linear(4, 4));
  const std::string at = folder("two"), index = safetensors::write_sharded(at, state_of(*net), 80);
  CHECK(index == at + "/model.safetensors.index.json");
  CHECK(std::filesystem::exists(at + "/model-00002-of-00002.safetensors"));
  CHECK_FALSE(std::filesystem::exists(at + "/model-00003-of-00003.safetensors"));
  load(again, index);
  CHECK(equal(again->parameters()[2], net->parameters()[2]));
  {
    NoGradGuard no_grad;
    again->parameters()[0].zero_();
  }
  load(again, at);
  CHECK(equal(again->parameters()[0], net->parameters()[0]));
  const safetensors::ShardedReader reader(at);
  CHECK(reader.keys().size() == 4);
  CHECK_THROWS_WITH(reader.get_tensor("0.weigth"), Contains("\"0.weight\""));
  std::filesystem::remove(at + "/model-00002-of-00002.safetensors");
  CHECK_THROWS_WITH(load(again, index), Contains("model-00002-of-00002.safetensors"));
}

TEST_CASE("writing a sharded checkpoint replaces the checkpoint in the folder and deletes its old files") {
  const support::Folder folder;
  const std::string at = folder.path().string();
  const auto tensors = [](float value) {
    return safetensors::NamedTensors{
        {"x", full({20}, value)}, {"y", full({20}, value)}, {"z", full({20}, value)}};
  };
  const auto x_of = [&] { return safetensors::ShardedReader(at).get_tensor("x")[0].item<float>(); };
  support::write_file(folder / "model-mine.safetensors", "mine");
  safetensors::write_sharded(at, tensors(1), 80);
  const std::set<std::string> first = folder.names();
  CHECK(first.contains("model-00003-of-00003.safetensors"));
  safetensors::write_sharded(at, tensors(2), 80);
  CHECK(x_of() == 2);
  CHECK(folder.names().size() == first.size());
  CHECK_FALSE(folder.names().contains("model-00003-of-00003.safetensors"));
  safetensors::write_sharded(at, tensors(3), 160);
  CHECK(x_of() == 3);
  CHECK(folder.names().size() == first.size() - 1);
  CHECK(safetensors::write_sharded(at, tensors(4)) == at + "/model.safetensors");
  CHECK(folder.names() == std::set<std::string>{"model-mine.safetensors", "model.safetensors"});
  safetensors::write_sharded(at, tensors(5), 80);
  CHECK(x_of() == 5);
  CHECK(folder.names() == first);
}

TEST_CASE("a failed write of a sharded checkpoint keeps the old checkpoint") {
  const support::Folder folder;
  const std::string at = folder.path().string();
  safetensors::write_sharded(at, {{"x", ones({20})}, {"y", ones({20})}}, 80);
  const std::set<std::string> before = folder.names();
  CHECK_THROWS_WITH(safetensors::write_sharded(at, {{"x", zeros({20})}, {"y", Tensor()}}, 80),
                    Contains("\"y\" is undefined"));
  CHECK_THROWS_WITH(safetensors::write_sharded(at, {{"x", zeros({20})}, {"x", zeros({20})}}, 80),
                    Contains("\"x\" is given twice"));
  CHECK_THROWS_WITH(safetensors::write_sharded(at, {{"x", zeros({20})}, {"\xff", zeros({20})}}, 80),
                    Contains("not UTF-8"));
  CHECK(folder.names() == before);
  CHECK(safetensors::ShardedReader(at).get_tensor("x").equal(ones({20})));
}

TEST_CASE("concurrent writes of sharded checkpoints to one folder leave only the last checkpoint") {
  const support::Folder folder;
  const std::string at = folder.path().string();
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 1; t < 5; ++t)
    threads.emplace_back([&, t] {
      const Tensor x = full({20}, t);
      for (int round = 0; round < 10; ++round) try {
          safetensors::write_sharded(at, {{"x", x}, {"y", x}, {"z", x}}, 80);
        } catch (const Error&) {
          ++failures;
        }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  const safetensors::ShardedReader reader(at);
  for (const char* name : {"y", "z"}) CHECK(reader.get_tensor(name).equal(reader.get_tensor("x")));
  CHECK(folder.names().size() == 4);
}

TEST_CASE("a checkpoint that fits in one file is written as one file") {
  const std::string at = folder("one");
  CHECK(safetensors::write_sharded(at, {{"a", ones({2})}}) == at + "/model.safetensors");
}

TEST_CASE("an index of shards must name files of its folder, and these must contain the listed tensors") {
  const std::string at = folder("wrong");
  std::filesystem::create_directories(at);
  safetensors::write(at + "/a.safetensors", {{"x", ones({1})}});
  const auto load_index = [&](const std::string& text) {
    std::ofstream(at + "/model.safetensors.index.json") << text;
    return safetensors::ShardedReader(at);
  };
  CHECK(load_index(R"({"weight_map": {"x": "a.safetensors"}})").contains("x"));
  CHECK_THROWS_WITH(load_index(R"({"weight_map": {"y": "a.safetensors"}})"), Contains("holds \"y\""));
  CHECK_THROWS_WITH(load_index(R"({"weight_map": {"x": "../a.safetensors"}})"),
                    Contains("outside its folder"));
  CHECK_THROWS_WITH(load_index(R"({"weight_map": {"x": 1}})"), Contains("no file"));
  for (const char* value : {"null", "true", "-1", "0.5", "[\"a.safetensors\"]", "{\"a\": \"a.safetensors\"}"})
    CHECK_THROWS_WITH(load_index(R"({"weight_map": {"x": )" + std::string(value) + "}}"),
                      Contains("no file for \"x\""));
  CHECK_THROWS_WITH(load_index(R"({"weight_map": {"x": "a.safetensors", "x": "a.safetensors"}})"),
                    Contains("\"x\" twice"));
  for (const char* index :
       {R"({"weights": {}})", R"({"weight_map": []})", R"({"weight_map": "x"})", "[]", "1", ""})
    CHECK_THROWS_WITH(load_index(index), Contains("weight_map"));
  // A "weight_map" in another place is ignored.
  CHECK_THROWS_WITH(load_index(R"({"metadata": {"weight_map": {"x": "a.safetensors"}}})"),
                    Contains("weight_map"));
  safetensors::write(at + "/a.safetensors", {{"x", ones({1})}, {"b", ones({1})}});
  const auto reader = load_index(
      R"({"metadata": {"sizes": [1, {"a": 2}]}, "weight_map": {"x": "a.safetensors", "b": "a.safetensors"}})");
  CHECK(reader.keys() == std::vector<std::string>{"x", "b"});
  CHECK_THROWS_WITH(load_index("{"), Contains("not the index"));
}

TEST_CASE("a sharded checkpoint that is replaced during opening is read as old or new but not mixed") {
  const std::string at = folder("replaced");
  const auto save = [&](double value) {
    safetensors::write_sharded(at, {{"a", full({4}, value)}, {"b", full({4}, value)}}, 16);
  };
  save(0);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 1; !stop; ++i) save(i);
  });
  int differ = 0, failed = 0;
  for (int i = 0; i < 200; ++i) {
    try {
      const safetensors::ShardedReader reader(at);
      differ += !reader.get_tensor("a").equal(reader.get_tensor("b"));
    } catch (const Error&) {
      ++failed;
    }
  }
  stop = true;
  writer.join();
  CHECK(differ == 0);
  CHECK(failed == 0);
}
