// Saves that are killed or find the disk full: the old file stays complete until the new one is. The tests do
// not run with sanitizers whose locks stay held in forked children.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <ebb/checkpoint.h>
#include <ebb/data.h>
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

using namespace ebb;
using support::Contains;
using support::Folder;
namespace fs = std::filesystem;

namespace {

safetensors::NamedTensors tensors_of(int version) {
  safetensors::NamedTensors tensors;
  for (const char* name : {"a", "b", "c", "d"}) tensors.emplace_back(name, full({1500}, version, kInt));
  return tensors;
}

/// The version of all tensors, or 0 if they have different versions.
int version_of(const safetensors::NamedTensors& tensors) {
  if (tensors.size() != 4) return 0;
  const int first = tensors[0].second[0].item<int>();
  for (const auto& each : tensors)
    if (!each.second.eq(first).all().item<bool>() || each.second.numel() != 1500) return 0;
  return first;
}

safetensors::NamedTensors read_checkpoint(const std::string& folder) {
  if (!fs::exists(folder + "/model.safetensors.index.json"))
    return safetensors::read(folder + "/model.safetensors").tensors;
  safetensors::NamedTensors tensors;
  const safetensors::ShardedReader reader(folder);
  for (const std::string& name : reader.keys()) tensors.emplace_back(name, reader.get_tensor(name));
  return tensors;
}

/// A file format: functions that save a version to a folder, and that return the version read from it.
struct Kind {
  const char* name;
  std::function<void(const std::string& folder, int version)> save;
  std::function<int(const std::string& folder)> read;
};

template <class Read>
std::function<int(const std::string&)> by(Read read) {
  return [read](const std::string& folder) { return version_of(read(folder + "/file")); };
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"safetensors", [](auto& folder, int v) { safetensors::write(folder + "/file", tensors_of(v)); },
       by([](const std::string& path) { return safetensors::read(path).tensors; })},
      {"torch.save", [](auto& folder, int v) { pytorch::write(folder + "/file", tensors_of(v)); },
       by([](const std::string& path) { return pytorch::read_state_dict(path); })},
      {"torch archive", [](auto& folder, int v) { pytorch::write_archive(folder + "/file", tensors_of(v)); },
       by([](const std::string& path) {
         safetensors::NamedTensors tensors;
         serialize::InputArchive archive;
         archive.load_from(path);
         for (const std::string& key : archive.keys())
           archive.read(key, tensors.emplace_back(key, Tensor()).second);
         return tensors;
       })},
      {"npz", [](auto& folder, int v) { npy::write_npz(folder + "/file", tensors_of(v)); },
       by([](const std::string& path) { return npy::read_npz(path); })},
      {"npy", [](auto& folder, int v) { npy::write(folder + "/file", full({4, 1500}, v, kInt)); },
       [](auto& folder) {
         const Tensor x = npy::read(folder + "/file");
         return x.eq(x[0][0]).all().template item<bool>() ? x[0][0].template item<int>() : 0;
       }},
      {"vocabulary",
       [](auto& folder, int v) {
         const std::string word(2000, static_cast<char>('0' + v));
         data::Vocabulary::from_words(word).save(folder + "/file");
       },
       [](auto& folder) {
         const std::string token = data::Vocabulary::load(folder + "/file").token(0);
         return token == std::string(2000, token[0]) ? token[0] - '0' : 0;
       }},
      {"checkpoint",
       [](auto& folder, int v) {
         Tensor x = full({1500}, v, kInt);
         std::int64_t step = v;
         Checkpoint(folder + "/file").add("x", x).add("step", step).save();
       },
       [](auto& folder) {
         Tensor x;
         std::int64_t step = 0;
         Checkpoint(folder + "/file").add("x", x).add("step", step).load();
         return x.eq(step).all().template item<bool>() ? static_cast<int>(step) : 0;
       }},
      {"several files", [](auto& folder, int v) { safetensors::write_sharded(folder, tensors_of(v), 6000); },
       [](auto& folder) { return version_of(read_checkpoint(folder)); }},
      {"several files or one",
       [](auto& folder, int v) { safetensors::write_sharded(folder, tensors_of(v), v % 2 ? 6000 : 100'000); },
       [](auto& folder) { return version_of(read_checkpoint(folder)); }}};
  return all;
}

int read(const Kind& kind, const Folder& folder) { return kind.read(folder.path().string()); }

}  // namespace

TEST_CASE("a save killed at any system call leaves the old or the new file and the next save cleans up") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    const Folder folder;
    const std::string at = folder.path().string();
    kind.save(at, 1);
    kind.save(at, 2);
    kind.save(at, 1);
    int version = 1, kills = 0;
    for (bool killed = true; killed; ++kills) {
      const int next = version % 8 + 1;
      killed = support::is_killed_at(kills, [&] { kind.save(at, next); });
      const int found = read(kind, folder);
      CHECK((found == version || found == next));
      if (!killed) CHECK(found == next);
      version = found;
    }
    CHECK(kills > 4);
    kind.save(at, version + 1);
    CHECK(read(kind, folder) == version + 1);
    const Folder fresh;
    kind.save(fresh.path().string(), version + 1);
    CHECK(folder.names().size() == fresh.names().size());
  }
}

TEST_CASE("a save killed at a random moment leaves the old or the new file") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    const Folder folder;
    const std::string at = folder.path().string();
    kind.save(at, 1);
    for (int kill = 0; kill < support::kills(); ++kill) {
      support::kill_at_random(static_cast<unsigned>(kill), [&] {
        for (int version = 1; version < 9; ++version) kind.save(at, version);
      });
      CHECK(read(kind, folder) > 0);
    }
  }
}

TEST_CASE("a save to a full disk is an error and keeps the old file") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    const Folder folder;
    const std::string at = folder.path().string();
    kind.save(at, 1);
    const std::set<std::string> before = folder.names();
    const auto fails = [&] {
      ::signal(SIGXFSZ, SIG_IGN);
      const struct rlimit few_bytes{1000, 1000};
      ::setrlimit(RLIMIT_FSIZE, &few_bytes);
      try {
        kind.save(at, 2);
      } catch (const Error& error) {
        const std::string what = error.what();
        return what.find("cannot write \"" + at) != what.npos && what.find("too large") != what.npos;
      }
      return false;
    };
    CHECK(support::status_of_child(fails) == 0);
    CHECK(read(kind, folder) == 1);
    CHECK(folder.names() == before);
  }
}

TEST_CASE("a save does not list the files of its folder") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    const Folder folder;
    for (int version = 1; version < 3; ++version)
      for (const std::string& call : support::file_calls([&] { kind.save(folder.path().string(), version); }))
        CHECK(call != "getdents64");
  }
}

TEST_CASE("the temporary file of a save is readable only by its owner") {
  const Folder folder;
  const std::string path = folder / "file";
  const auto save = [&] { safetensors::write(path, tensors_of(1)); };
  const mode_t mask = ::umask(022);
  save();
  const auto whole = fs::file_size(path);
  std::set<mode_t> modes;  // modes of the incomplete file
  bool killed = true;
  for (int call = 0; killed; ++call) {
    fs::remove(path);
    killed = support::is_killed_at(call, save);
    for (const std::string& name : folder.names()) {
      struct stat info{};
      REQUIRE(::stat((folder / name).c_str(), &info) == 0);
      const auto size = static_cast<std::uintmax_t>(info.st_size);
      if (size == whole) CHECK((info.st_mode & 0777 & ~0044) == 0600);
      if (size > 0 && size < whole) modes.insert(info.st_mode & 0777);
    }
  }
  CHECK(modes == std::set<mode_t>{0600});
  ::umask(mask);
  CHECK(folder.names() == std::set<std::string>{"file"});
}
#endif
