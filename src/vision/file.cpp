// Reading files whole.
#include "vision/file.h"

#include <ebb/core/error.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ebb::vision {

std::string read_file(const char* what, const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  EBB_CHECK(file, what, ": cannot open \"", path, "\": ", std::strerror(errno), ".");
  std::string bytes;
  constexpr std::size_t step = 1 << 18;
  std::size_t got = 0;
  do {
    const std::size_t had = bytes.size();
    bytes.resize(had + step);
    got = std::fread(bytes.data() + had, 1, step, file.get());
    bytes.resize(had + got);
  } while (got == step);
  EBB_CHECK(std::ferror(file.get()) == 0, what, ": cannot read \"", path, "\": ", std::strerror(errno), ".");
  return bytes;
}

}  // namespace ebb::vision
