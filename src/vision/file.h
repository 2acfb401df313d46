// A file as bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ebb::vision {

/// All of a regular file. check(size) may refuse it by its size before anything is read. Throws, naming it
/// after `what`, where it is no regular file (a folder, a device, a pipe) or cannot be read.
std::string read_file(const char* what, const std::string& path,
                      const std::function<void(std::uint64_t)>& check);

}  // namespace ebb::vision
