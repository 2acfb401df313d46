// read_file: reads a file completely.
#include "vision/file.h"

#include <ebb/core/error.h>
#include <ebb/data/text.h>

#include <filesystem>

namespace ebb::vision {

std::string read_file(const char* what, const std::string& path,
                      const std::function<void(std::uint64_t)>& check) {
  std::error_code unknown;  // ignored, because read_text() reports unreadable files
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown) check(size);
  try {
    return data::read_text(path);
  } catch (const Error& e) {
    ebb::detail::fail(what, ": ", e.what());
  }
}

}  // namespace ebb::vision
