// Atomic saves: links, special files, permissions, and writers that are killed or run concurrently.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

using namespace ebb;
using support::Contains;
using support::Folder;
namespace fs = std::filesystem;

namespace {

float first_of(const std::string& path) {
  Variable x;
  load(x, path);
  return x.flatten()[0].item<float>();
}

mode_t mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

// Leaves the files of a process that dies in the middle of a save to `path`.
void die_saving(const std::string& path) {
  const Variable large = ones({1 << 16});
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const struct rlimit no_core{0, 0}, few_bytes{4096, 4096};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_FSIZE, &few_bytes);
    ::signal(SIGXFSZ, SIG_DFL);  // the signal kills the process
    save(large, path);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("a save through a symbolic link replaces the target of the link") {
  const Folder folder;
  fs::create_directories(folder.path() / "elsewhere");
  save(ones({2}), folder / "elsewhere/target");
  fs::create_symlink("elsewhere/target", folder / "relative");
  fs::create_symlink(folder / "relative", folder / "absolute");
  save(full({2}, 3), folder / "absolute");
  CHECK(fs::is_symlink(folder / "absolute"));
  CHECK(fs::is_symlink(folder / "relative"));
  CHECK(first_of(folder / "elsewhere/target") == 3);
  CHECK(folder.names() == std::set<std::string>{"absolute", "elsewhere", "relative"});

  fs::create_symlink("elsewhere/new", folder / "dangling");
  save(full({2}, 4), folder / "dangling");
  CHECK(fs::is_symlink(folder / "dangling"));
  CHECK(first_of(folder / "elsewhere/new") == 4);

  fs::create_symlink("circle", folder / "circle");
  CHECK_THROWS_WITH(save(ones({2}), folder / "circle"), Contains("circle"));
}

TEST_CASE("a save to a path that is not a regular file is refused and does not change it") {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(save(ones({2}), pipe), Contains("is a pipe") && Contains("stream") && Contains(pipe));
  CHECK(fs::is_fifo(pipe));
  Variable x;
  CHECK_THROWS_WITH(load(x, pipe), Contains("not a regular file"));
  CHECK_THROWS_WITH(save(ones({2}), folder.path().string()), Contains("is a folder"));
  // The path is a link, so that a save that replaces its path does no harm to the machine.
  fs::create_symlink("/dev/full", folder / "full");
  CHECK_THROWS_WITH(save(ones({2}), folder / "full"), Contains("is a device"));
  CHECK(fs::is_symlink(folder / "full"));
  CHECK(fs::is_character_file("/dev/full"));
  CHECK(folder.names() == std::set<std::string>{"full", "pipe"});

  // An open file whose name was deleted.
  const std::string gone = folder / "gone";
  const int descriptor = ::open(gone.c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(descriptor >= 0);
  ::unlink(gone.c_str());
  CHECK_THROWS_WITH(save(ones({2}), "/proc/self/fd/" + std::to_string(descriptor)),
                    Contains("without a name"));
  ::close(descriptor);
  CHECK(folder.names() == std::set<std::string>{"full", "pipe"});

  std::ofstream full("/dev/full");
  CHECK_THROWS_WITH((save(ones({1 << 16}), full)), Contains("did not take all bytes"));
}

TEST_CASE("a new file gets its permissions from the umask, and a replaced file keeps its permissions") {
  const Folder folder;
  const mode_t mask = ::umask(027);
  save(ones({2}), folder / "new");
  ::umask(mask);
  CHECK(mode_of(folder / "new") == 0640);
  for (const mode_t mode : {0600, 0664, 0444}) {
    REQUIRE(::chmod((folder / "new").c_str(), mode) == 0);
    save(ones({2}), folder / "new");
    CHECK(mode_of(folder / "new") == mode);
  }
}

TEST_CASE("the next save to a file deletes the temporary file of a killed save") {
  const Folder folder;
  const std::string path = folder / "model.safetensors";
  save(ones({2}), path);
  die_saving(path);
  die_saving(path);
  CHECK(folder.names().size() == 2);  // the second killed save deleted the file of the first
  CHECK(first_of(path) == 1);
  die_saving(folder / "other");
  // Files with similar names belong to the user.
  for (const char* name : {"model.safetensors.backup", "model.safetensors.ebb-old", "model.safetensors.ebb-",
                           "model.safetensors.ebb-0-1", "xmodel.safetensors.ebb-0"})
    std::ofstream(folder / name) << "mine";
  save(full({2}, 5), path);
  CHECK(first_of(path) == 5);
  std::set<std::string> names = folder.names();
  for (const char* name : {"model.safetensors", "model.safetensors.backup", "model.safetensors.ebb-old",
                           "model.safetensors.ebb-", "model.safetensors.ebb-0-1", "xmodel.safetensors.ebb-0"})
    CHECK(names.erase(name) == 1);
  REQUIRE(names.size() == 1);  // of the other file
  CHECK(names.begin()->starts_with("other.ebb-"));
}

TEST_CASE("a save does not delete the temporary file of a running writer") {
  const Folder folder;
  const std::string path = folder / "model", temporary = folder / "model.ebb-0";
  const int writer = ::open(temporary.c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(::flock(writer, LOCK_EX) == 0);
  die_saving(path);
  save(ones({2}), path);
  CHECK(folder.names() == std::set<std::string>{"model", "model.ebb-0"});
  ::close(writer);
  save(ones({2}), path);
  CHECK_FALSE(fs::exists(temporary));
}

TEST_CASE("a save leaves other files unchanged that already have the name of its temporary file") {
  const Folder folder;
  const std::string path = folder / "model";
  std::ofstream(folder / "precious") << "mine";
  fs::create_symlink("precious", folder / "model.ebb-0");
  fs::create_directories(folder / "model.ebb-1");
  REQUIRE(::mkfifo((folder / "model.ebb-2").c_str(), 0600) == 0);
  save(full({2}, 6), path);
  CHECK(first_of(path) == 6);
  CHECK(fs::file_size(folder / "precious") == 4);
  CHECK(fs::is_symlink(folder / "model.ebb-0"));
  CHECK(fs::is_directory(folder / "model.ebb-1"));
  CHECK(fs::is_fifo(folder / "model.ebb-2"));
}

TEST_CASE("concurrent saves to one file from threads and processes all succeed") {
  const Folder folder;
  const std::string path = folder / "shared";
  constexpr int kRounds = 10;
  const auto save_often = [&path](float value) {
    const Variable x = full({5000}, value);
    for (int i = 0; i < kRounds; ++i) save(x, path);
  };
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    try {
      save_often(9);
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      try {
        save_often(static_cast<float>(t));
        Variable x;
        load(x, path);
        if (!x.eq(x[0]).all().item<bool>()) ++failures;  // of two writers
      } catch (const Error&) {
        ++failures;
      }
    });
  for (std::thread& thread : threads) thread.join();
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(failures == 0);
  CHECK(folder.names() == std::set<std::string>{"shared"});
}
