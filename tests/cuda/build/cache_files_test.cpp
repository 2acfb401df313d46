// CacheFiles, the file cache of compiled kernels: a file is read in full or not at all.
#include "cuda/cache_files.h"

#include "support/catch.h"
#include "support/files.h"
#include "support/scopes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

using ebb::cuda::CacheFiles, ebb::cuda::kernel_folder;
using support::Environment, support::files_in, support::Folder;
namespace fs = std::filesystem;

TEST_CASE("a cached file is found only by its own key") {
  const Folder folder;
  CacheFiles files(folder.path() / "below", "kernel");
  const std::string value("\0bytes\nand lines", 16);
  CHECK_FALSE(files.load("key"));
  files.save("key", value);
  files.save("another", "other");
  CHECK(CacheFiles(folder.path() / "below", "kernel").load("key") == value);
  CHECK_FALSE(files.load("ke"));
  CHECK_FALSE(files.load("key2"));
  files.remove("key");
  CHECK_FALSE(files.load("key"));
  CHECK(files.load("another") == "other");
}

TEST_CASE("a damaged cache file is ignored") {
  const Folder folder;
  CacheFiles files(folder.path(), "kernel");
  files.save("key", "what a compiler made");
  REQUIRE(files_in(folder.path()).size() == 1);
  const fs::path file = files_in(folder.path())[0];
  const std::string whole = support::read_file(file);
  const auto holds = [&](const std::string& text) {
    support::write_file(file, text);
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

TEST_CASE("a cache in a folder that is not writable stores nothing and does not fail") {
  const Folder folder;
  support::write_file(folder / "file", "no folder");
  for (const fs::path& where : {fs::path(), folder.path() / "file" / "below", fs::path("/proc/none")}) {
    CacheFiles files(where, "kernel");
    files.save("key", "value");
    CHECK_FALSE(files.load("key"));
    files.remove("key");
  }
  CHECK(files_in(folder.path()).size() == 1);
}

TEST_CASE("the cache folder is private to the user and a folder writable by others is not used") {
  const Folder folder;
  const fs::path above = folder.path() / "above", own = above / "kernels";
  const mode_t mask = ::umask(0);
  CacheFiles(own, "kernel").save("key", "value");
  ::umask(mask);
  CHECK(fs::status(above).permissions() == fs::perms::owner_all);
  CHECK(fs::status(own).permissions() == fs::perms::owner_all);
  CHECK(CacheFiles(own, "kernel").load("key") == "value");

  support::Warnings warnings;
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(own, fs::perms::owner_all | others);
    CacheFiles files(own, "kernel");
    CHECK_FALSE(files.load("key"));
    files.save("another", "value");
    CHECK(files_in(own).size() == 1);
  }
  REQUIRE(warnings.texts.size() == 1);
  CHECK(warnings.texts[0].find("can be written by other users") != std::string::npos);
  fs::permissions(own, fs::perms::owner_all);
  CHECK(CacheFiles(own, "kernel").load("key") == "value");
  if (::geteuid() != 0) return;  // only root can change the owner of a folder
  REQUIRE(::chown(own.c_str(), 65534, 65534) == 0);
  CacheFiles files(own, "kernel");
  CHECK_FALSE(files.load("key"));
  files.save("another", "value");
  CHECK(files_in(own).size() == 1);
}

TEST_CASE("a symbolic link or a renamed file in the cache is ignored") {
  const Folder folder;
  CacheFiles files(folder.path(), "kernel");
  files.save("key", "value");
  const fs::path file = files_in(folder.path())[0], aside = folder.path() / "aside";
  fs::rename(file, aside);
  fs::create_symlink(aside, file);
  CHECK_FALSE(files.load("key"));
  fs::remove(file);
  files.save("other", "another value");
  for (const fs::path& each : files_in(folder.path()))
    if (each != aside) fs::rename(aside, each);
  CHECK_FALSE(files.load("other"));
}

TEST_CASE("concurrent writes of one cache file leave a complete file") {
  const Folder folder;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      CacheFiles files(folder.path(), "kernel");
      for (int times = 0; times < 50; ++times) {
        files.save("key", std::string(1000, static_cast<char>('a' + i)));
        if (const auto value = files.load("key"); !value || *value != std::string(1000, (*value)[0]))
          std::abort();
      }
    });
  for (std::thread& each : threads) each.join();
  CHECK(files_in(folder.path()).size() == 1);
}

TEST_CASE("environment variables select the folder of the kernel cache") {
  const Environment own("EBB_KERNEL_CACHE"), all("EBB_CACHE_DIR"), caches("XDG_CACHE_HOME"), home("HOME");
  CHECK(kernel_folder().empty());
  const Environment a_home("HOME", "/me");
  CHECK(kernel_folder() == "/me/.cache/ebb/kernels");
  const Environment relative("XDG_CACHE_HOME", "not/absolute");
  CHECK(kernel_folder() == "/me/.cache/ebb/kernels");
  const Environment absolute("XDG_CACHE_HOME", "/caches");
  CHECK(kernel_folder() == "/caches/ebb/kernels");
  const Environment for_all("EBB_CACHE_DIR", "/all");
  CHECK(kernel_folder() == "/all/kernels");
  const Environment forbidden("EBB_CACHE_DIR", "");
  CHECK(kernel_folder().empty());
  const Environment for_kernels("EBB_KERNEL_CACHE", "/own");
  CHECK(kernel_folder() == "/own");
  for (const char* none : {"", "0"}) {
    const Environment no_kernels("EBB_KERNEL_CACHE", none);
    CHECK(kernel_folder().empty());
  }
}
