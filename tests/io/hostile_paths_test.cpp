// Paths with NULs, links, and special files: readers refuse them, and read only the intended file.
#include <ebb/checkpoint.h>
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

using namespace ebb;
using namespace std::string_literals;
using support::Contains;

namespace fs = std::filesystem;

namespace {

// All readers that take a path.
std::vector<std::pair<const char*, std::function<void(const std::string&)>>> readers() {
  return {{"safetensors::read", [](const auto& path) { safetensors::read(path); }},
          {"safetensors::Reader", [](const auto& path) { safetensors::Reader reader(path); }},
          {"ShardedReader", [](const auto& path) { safetensors::ShardedReader reader(path); }},
          {"pytorch::read", [](const auto& path) { pytorch::read(path); }},
          {"npy::read", [](const auto& path) { npy::read(path); }},
          {"npy::read_npz", [](const auto& path) { npy::read_npz(path); }},
          {"npy::is_npz", [](const auto& path) { npy::is_npz(path); }},
          {"load of a module",
           [](const auto& path) {
             nn::Linear net(2, 2);
             load(net, path);
           }},
          {"load of a tensor",
           [](const auto& path) {
             Tensor x;
             load(x, path);
           }},
          {"InputArchive",
           [](const auto& path) {
             serialize::InputArchive archive;
             archive.load_from(path);
           }},
          {"Checkpoint",
           [](const auto& path) {
             Checkpoint run(path);
             std::int64_t number = 0;
             run.add("x", number).load();
           }},
          {"load of an optimizer",
           [](const auto& path) {
             nn::Linear net(2, 2);
             optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1));
             load(sgd, path);
           }},
          {"read_idx", [](const auto& path) { data::read_idx(path); }},
          {"read_csv", [](const auto& path) { data::read_csv(path); }},
          {"read_text", [](const auto& path) { data::read_text(path); }},
          {"Vocabulary::load", [](const auto& path) { data::Vocabulary::load(path); }}};
}

std::string folder(const char* name) {
  const fs::path path = support::own_folder() / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path.string();
}

}  // namespace

TEST_CASE("readers refuse pipes and devices without blocking") {
  const std::string at = folder("no_files");
  REQUIRE(::mkfifo((at + "/pipe").c_str(), 0600) == 0);
  fs::create_symlink("/dev/zero", at + "/link");
  fs::create_symlink("loop", at + "/loop");
  for (const auto& [name, read] : readers())
    for (const std::string& path :
         {"/dev/zero"s, at + "/link", at + "/pipe", at + "/loop", at, "/proc/self/status"s}) {
      INFO(name << " of " << path);
      CHECK(support::takes_at_most(32 << 20, [&, &reads = read] {
        try {
          reads(path);
        } catch (const Error& e) {
          return std::string(e.what()).find(path) != std::string::npos;
        }
        return false;
      }));
    }
  CHECK_THROWS_WITH(data::read_text(at), Contains("a directory"));
  CHECK_THROWS_WITH(data::read_text("/proc/self/status"), Contains("has no size"));
  std::ofstream(at + "/empty");
  CHECK(data::read_text(at + "/empty").empty());
}

TEST_CASE("readers throw after the first bytes of an endless stream") {
  for (const char* const path : {"/dev/zero", "/dev/urandom"}) {
    const std::vector<std::function<void(std::istream&)>> reads = {
        [](auto& stream) { safetensors::read(stream); },
        [](auto& stream) { pytorch::read(stream); },
        [](auto& stream) { pytorch::read_state_dict(stream); },
        [](auto& stream) { npy::read(stream); },
        [](auto& stream) {
          nn::Linear net(2, 2);
          load(net, stream);
        },
        [](auto& stream) {
          Tensor x;
          load(x, stream);
        },
        [](auto& stream) {
          nn::Linear net(2, 2);
          optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1));
          load(sgd, stream);
        },
        [](auto& stream) { serialize::InputArchive().load_from(stream); }};
    for (std::size_t i = 0; i < reads.size(); ++i) {
      INFO(path << ", reader " << i);
      CHECK(support::takes_at_most(32 << 20, [&] {
        std::ifstream stream(path, std::ios::binary);
        try {
          reads[i](stream);
        } catch (const Error&) {
          return true;
        }
        return false;
      }));
    }
  }
  CHECK(support::takes_at_most(32 << 20, [] {
    std::ifstream stream("/dev/zero", std::ios::binary);
    try {
      npy::read_npz(stream);
    } catch (const Error&) {
      return true;
    }
    return false;
  }));
}

TEST_CASE("a path with a NUL character is refused") {
  const std::string at = folder("nul");
  safetensors::write(at + "/a.safetensors", {{"x", ones({1})}});
  pytorch::write(at + "/a.pt", pytorch::Value(1));
  npy::write(at + "/a.npy", ones({1}));
  std::ofstream(at + "/a.csv") << "a\n1\n";
  std::ofstream(at + "/a.idx") << "\0\0\x08\x01\0\0\0\x01x"s;
  for (const char* ending : {"safetensors", "pt", "npy", "csv", "idx"})
    for (const auto& [name, read] : readers()) {
      INFO(name << " of ." << ending);
      CHECK_THROWS_AS(read(at + "/a." + ending + "\0.txt"s), Error);
    }
  CHECK_THROWS_WITH(data::read_text(at + "/a.csv\0"s), Contains("NUL"));
}

TEST_CASE("an index of shards that names an outside file through a NUL or a link is refused") {
  const std::string at = folder("linked"), other = folder("elsewhere");
  safetensors::write(at + "/a.safetensors", {{"x", ones({1})}});
  safetensors::write(other + "/b.safetensors", {{"x", zeros({1})}});
  const std::string index = at + "/model.safetensors.index.json";
  const auto reading = [&](const std::string& name) {
    std::ofstream(index) << R"({"weight_map":{"x":")" << name << "\"}}";
    return [&] { safetensors::ShardedReader reader(at); };
  };
  CHECK_NOTHROW(reading("a.safetensors")());
  CHECK_THROWS_WITH(reading("a.safetensors\\u0000")(), Contains("outside its folder"));
  CHECK_THROWS_WITH(reading("a.safetensors\\u0000/../../b")(), Contains("outside its folder"));
  for (const std::string& outside : {other + "/b.safetensors", "../elsewhere/b.safetensors"s,
                                     "./../elsewhere/b.safetensors"s, ".."s, "."s, ""s, "/"s})
    CHECK_THROWS_WITH(reading(outside)(), Contains("outside its folder"));
  fs::create_symlink(other + "/b.safetensors", at + "/absolute.safetensors");
  fs::create_symlink("../elsewhere/b.safetensors", at + "/relative.safetensors");
  fs::create_symlink("relative.safetensors", at + "/twice.safetensors");
  for (const char* name : {"absolute", "relative", "twice"})
    CHECK_THROWS_WITH(reading(name + ".safetensors"s)(),
                      Contains("outside its folder") && Contains(name + ".safetensors"s));
  fs::create_symlink("a.safetensors", at + "/beside.safetensors");
  CHECK_NOTHROW(reading("beside.safetensors")());
  fs::create_symlink("loop.safetensors", at + "/loop.safetensors");
  CHECK_THROWS_WITH(reading("loop.safetensors")(), Contains("loop.safetensors"));
  CHECK_THROWS_WITH(reading("none.safetensors")(), Contains("none.safetensors"));
  REQUIRE(::mkfifo((at + "/pipe.safetensors").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(reading("pipe.safetensors")(), Contains("not a regular file"));
  nn::Linear net(1, 1);
  CHECK_THROWS_WITH(load(net, at), Contains("not a regular file"));
  // A folder that is a link is accepted.
  reading("a.safetensors");
  fs::create_directory_symlink(at, other + "/folder");
  CHECK(safetensors::ShardedReader(other + "/folder").contains("x"));
}

TEST_CASE("an index and shards that are symbolic links into the cache of Hugging Face are read") {
  const std::string at = folder("hub"), snapshot = at + "/snapshots/1", blobs = at + "/blobs";
  fs::create_directories(snapshot);
  fs::create_directories(blobs);
  safetensors::write(blobs + "/0123", {{"x", ones({1})}});
  safetensors::write(at + "/outside", {{"x", zeros({1})}});
  std::ofstream(blobs + "/4567") << R"({"weight_map":{"x":"model-1.safetensors"}})";
  fs::create_symlink("../../blobs/0123", snapshot + "/model-1.safetensors");
  fs::create_symlink("../../blobs/4567", snapshot + "/model.safetensors.index.json");
  CHECK(safetensors::ShardedReader(snapshot).get_tensor("x").item<float>() == 1);
  fs::remove(snapshot + "/model-1.safetensors");
  fs::create_symlink("../../outside", snapshot + "/model-1.safetensors");
  CHECK_THROWS_WITH(safetensors::ShardedReader(snapshot), Contains("outside its folder"));
}

TEST_CASE("an index with many names for one file reads the file once") {
  const std::string at = folder("links");
  std::string header = "{\"__metadata__\":{\"k\":\"" + std::string(4 << 20, 'k') +
                       "\"},\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}";
  std::string map;
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(i);
    header += ",\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,1]}";
    fs::create_symlink("a.safetensors", at + "/" + name + ".safetensors");
    map += (map.empty() ? "\"" : ",\"") + name + "\":\"" + name + ".safetensors\"";
  }
  header += "}";
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
  std::ofstream(at + "/a.safetensors", std::ios::binary) << length << header << "x";
  std::ofstream(at + "/model.safetensors.index.json") << "{\"weight_map\":{" << map << "}}";
  CHECK(
      support::takes_at_most(64 << 20, [&] { return safetensors::ShardedReader(at).keys().size() == 100; }));
}
