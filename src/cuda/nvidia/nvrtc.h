// NVRTC, NVIDIA's run-time compiler of kernels.
#pragma once

#include <string>

namespace ebb::cuda {

/// Returns the machine code of a source for one architecture, such as 90. It uses libnvrtc of version
/// `major`, which is opened on first use. All calls in a process must use the same version. Throws ebb::Error
/// with the compiler's messages, or with the name of the missing part.
std::string compile_by_nvrtc(int major, int architecture, const std::string& source);

/// Returns the version and all options, for cache keys.
std::string nvrtc_stamp(int major, int architecture);

}  // namespace ebb::cuda
