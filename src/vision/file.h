// read_file: reads a file completely.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ebb::vision {

/// Reads a regular file. check(size) may refuse it by its size before it is read. Throws an error that begins
/// with `what` if it is not a regular file (a folder, a device, a pipe) or cannot be read.
std::string read_file(const char* what, const std::string& path,
                      const std::function<void(std::uint64_t)>& check);

}  // namespace ebb::vision
