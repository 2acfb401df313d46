// Which GPUs the plugin's kernels run on, by how it was built.
#pragma once

#include <cstddef>
#include <string_view>

namespace ebb::cuda {

/// Whether one of `built`, CMake's list of architectures such as "80-real;90" (or with commas), has kernels
/// for a device of compute capability major.minor: machine code runs on its own major version from its minor
/// one on, PTX ("-virtual" or without a suffix) on everything later; both of an architecture's own features
/// ("90a") on that one alone, of a family's ("100f") on the family, which is the major version from the minor
/// one on. Names such as "all-major" are taken as covering it.
constexpr bool has_kernels_for(std::string_view built, int major, int minor) {
  const int device = major * 10 + minor;
  while (!built.empty()) {
    const std::size_t end = built.find_first_of(",;");
    std::string_view one = built.substr(0, end);
    built = end == std::string_view::npos ? std::string_view() : built.substr(end + 1);
    int number = 0;
    while (!one.empty() && one.front() >= '0' && one.front() <= '9') {
      number = number * 10 + (one.front() - '0');
      one.remove_prefix(1);
    }
    if (number == 0) return true;
    const bool exact = one.starts_with('a'), family = one.starts_with('f');
    if (exact || family) one.remove_prefix(1);
    const bool same = exact ? number == device : number / 10 == major && number <= device;
    const bool later = one != "-real" && !exact && !family;
    if (later ? number <= device : same) return true;
  }
  return false;
}

}  // namespace ebb::cuda
