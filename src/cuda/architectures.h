// The GPU architectures for which the plugin was built.
#pragma once

#include <cstddef>
#include <string_view>

namespace ebb::cuda {

/// Returns whether one of `built` has kernels for a device of compute capability major.minor. `built` is a
/// CMake list of architectures such as "80-real;90" (or with commas). Machine code for a.b runs on devices
/// a.c with c >= b. PTX ("-virtual" or without a suffix) also runs on all later devices. Code with
/// architecture-specific features ("90a") runs only on this architecture. Code with family features ("100f")
/// runs on the devices 10.c with c >= 0. A name such as "all-major" is assumed to cover the device.
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
