// Image writes that are killed or find the disk full: the old file stays complete until the new one is. The
// tests do not run with sanitizers whose locks stay held in forked children.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <ebb/ebb.h>
#include <ebb/vision.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <signal.h>
#include <sys/resource.h>

using namespace ebb;
using support::Folder;

namespace {

constexpr const char* kNames[] = {"image.png", "image.jpg"};

// Writes noise, which compresses badly; the first pixel identifies the version.
void write(const std::string& path, int version) {
  Tensor image = (arange(3 * 64 * 64, kLong).reshape({3, 64, 64}) * 7919 % 251).to(kByte);
  image[0].fill_(version == 1 ? 10 : 200);
  if (path.ends_with("png"))
    vision::write_png(image, path, 0);
  else
    vision::write_jpeg(image, path, 95);
}

int read(const std::string& path) {
  const Tensor image = vision::read_image(path);
  return image[0].to(kFloat).mean().item<float>() < 100 ? 1 : 2;
}

}  // namespace

TEST_CASE("an image write killed at any system call leaves the old or the new file") {
  for (const char* name : kNames) {
    INFO(name);
    const Folder folder;
    const std::string path = folder / name;
    write(path, 1);
    int kills = 0;
    for (; support::is_killed_at(kills, [&] { write(path, 2); }); ++kills) CHECK(read(path) > 0);
    CHECK(kills > 2);
    CHECK(read(path) == 2);
    CHECK(folder.names() == std::set<std::string>{name});
  }
}

TEST_CASE("an image write killed at a random moment leaves the old or the new file") {
  for (const char* name : kNames) {
    INFO(name);
    const Folder folder;
    const std::string path = folder / name;
    write(path, 1);
    for (int kill = 0; kill < support::kills(); ++kill) {
      support::kill_at_random(static_cast<unsigned>(kill), [&] {
        for (int i = 0; i < 8; ++i) write(path, 1 + i % 2);
      });
      CHECK(read(path) > 0);
    }
  }
}

TEST_CASE("an image write to a full disk keeps the old file") {
  for (const char* name : kNames) {
    INFO(name);
    const Folder folder;
    const std::string path = folder / name;
    write(path, 1);
    const auto fails = [&] {
      ::signal(SIGXFSZ, SIG_IGN);
      const struct rlimit few_bytes{100, 100};
      ::setrlimit(RLIMIT_FSIZE, &few_bytes);
      try {
        write(path, 2);
      } catch (const Error& error) {
        return std::string(error.what()).find(path) != std::string::npos;
      }
      return false;
    };
    CHECK(support::status_of_child(fails) == 0);
    CHECK(read(path) == 1);
    CHECK(folder.names() == std::set<std::string>{name});
  }
}
#endif
