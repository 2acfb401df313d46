// A file as bytes.
#pragma once

#include <string>

namespace ebb::vision {

/// All of a file. Throws, naming it after `what`, where it cannot be read.
std::string read_file(const char* what, const std::string& path);

}  // namespace ebb::vision
