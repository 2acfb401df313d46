// Files of compiled kernels: whole or none.
#include "cuda/kept_files.h"
#include "support/catch.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

using ebb::cuda::KeptFiles, ebb::cuda::kernel_folder;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("ebb-kept-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::vector<fs::path> files() const {
    const fs::directory_iterator all(path);
    return {begin(all), end(all)};
  }
};

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void set(const char* name, const char* value) { value ? setenv(name, value, 1) : unsetenv(name); }

// The variables that say where files are kept.
struct Variables {
  Variables() {
    for (const char* name : kNames) before.emplace_back(std::getenv(name) ? std::getenv(name) : "");
  }
  ~Variables() {
    for (std::size_t i = 0; i < before.size(); ++i)
      set(kNames[i], before[i].empty() ? nullptr : before[i].c_str());
  }
  static constexpr const char* kNames[] = {"EBB_KERNEL_CACHE", "EBB_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::string> before;
};

}  // namespace

TEST_CASE("a kept file is read by its key alone") {
  const Folder folder;
  KeptFiles files(folder.path / "below", "kernel");
  const std::string value("\0bytes\nand lines", 16);
  CHECK_FALSE(files.load("key"));
  files.save("key", value);
  files.save("another", "other");
  CHECK(KeptFiles(folder.path / "below", "kernel").load("key") == value);
  CHECK_FALSE(files.load("ke"));
  CHECK_FALSE(files.load("key2"));
  files.remove("key");
  CHECK_FALSE(files.load("key"));
  CHECK(files.load("another") == "other");
}

TEST_CASE("a kept file that is not as it was written counts as none") {
  const Folder folder;
  KeptFiles files(folder.path, "kernel");
  files.save("key", "what a compiler made");
  REQUIRE(folder.files().size() == 1);
  const fs::path file = folder.files()[0];
  const std::string whole = bytes_of(file);
  const auto holds = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
    return files.load("key").has_value();
  };
  CHECK(holds(whole));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    CHECK_FALSE(holds(damaged));
    CHECK_FALSE(holds(whole.substr(0, at)));
  }
  CHECK_FALSE(holds(whole + "more"));
  files.save("key", "anew");
  CHECK(files.load("key") == "anew");
}

TEST_CASE("where nothing can be written nothing is kept") {
  const Folder folder;
  std::ofstream(folder.path / "file") << "no folder";
  for (const fs::path& where : {fs::path(), folder.path / "file" / "below", fs::path("/proc/none")}) {
    KeptFiles files(where, "kernel");
    files.save("key", "value");
    CHECK_FALSE(files.load("key"));
    files.remove("key");
  }
  CHECK(folder.files().size() == 1);
}

TEST_CASE("threads that keep the same file leave a whole one") {
  const Folder folder;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      KeptFiles files(folder.path, "kernel");
      for (int times = 0; times < 50; ++times) {
        files.save("key", std::string(1000, static_cast<char>('a' + i)));
        if (const auto value = files.load("key"); !value || *value != std::string(1000, (*value)[0]))
          std::abort();
      }
    });
  for (std::thread& each : threads) each.join();
  CHECK(folder.files().size() == 1);
}

TEST_CASE("kernels are kept where the environment says") {
  const Variables restored;
  for (const char* name : Variables::kNames) set(name, nullptr);
  CHECK(kernel_folder().empty());
  set("HOME", "/me");
  CHECK(kernel_folder() == "/me/.cache/ebb/kernels");
  set("XDG_CACHE_HOME", "not/absolute");
  CHECK(kernel_folder() == "/me/.cache/ebb/kernels");
  set("XDG_CACHE_HOME", "/caches");
  CHECK(kernel_folder() == "/caches/ebb/kernels");
  set("EBB_CACHE_DIR", "/all");
  CHECK(kernel_folder() == "/all/kernels");
  set("EBB_CACHE_DIR", "");
  CHECK(kernel_folder().empty());
  set("EBB_KERNEL_CACHE", "/own");
  CHECK(kernel_folder() == "/own");
  for (const char* none : {"", "0"}) {
    set("EBB_KERNEL_CACHE", none);
    CHECK(kernel_folder().empty());
  }
}
