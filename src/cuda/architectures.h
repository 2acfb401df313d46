// Which GPUs the plugin's kernels run on, by how it was built.
#pragma once

#include <cstddef>
#include <string_view>

namespace ebb::cuda {

/// Whether one of `built`, CMake's list of architectures such as "80-real;90", has kernels for a device of
/// compute capability major.minor: machine code runs on its own major version from its minor one on ("90a" on
/// 9.0 alone), PTX ("-virtual" or without a suffix) on everything later. Names such as "native" are taken as
/// covering it.
constexpr bool has_kernels_for(std::string_view built, int major, int minor) {
  const int device = major * 10 + minor;
  while (!built.empty()) {
    const std::size_t end = built.find(';');
    std::string_view one = built.substr(0, end);
    built = end == std::string_view::npos ? std::string_view() : built.substr(end + 1);
    int number = 0;
    while (!one.empty() && one.front() >= '0' && one.front() <= '9') {
      number = number * 10 + (one.front() - '0');
      one.remove_prefix(1);
    }
    if (number == 0) return true;
    const bool exact = one.starts_with('a');
    if (exact || one.starts_with('f')) one.remove_prefix(1);
    const bool machine_code = one != "-virtual", ptx = one != "-real" && !exact;
    const bool same = exact ? number == device : number / 10 == major && number <= device;
    if ((machine_code && same) || (ptx && number <= device)) return true;
  }
  return false;
}

}  // namespace ebb::cuda
