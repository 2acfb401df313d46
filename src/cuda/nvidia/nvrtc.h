// NVIDIA's compiler of kernels at run time.
#pragma once

#include <string>

namespace ebb::cuda {

/// Machine code of a source for one architecture, such as 90, by libnvrtc of a major version, which is opened
/// when it is first asked for; one major version a process. Throws ebb::Error with the compiler's words, or
/// with what is missing.
std::string compile_by_nvrtc(int major, int architecture, const std::string& source);

/// The version and all options, for keys.
std::string nvrtc_stamp(int major, int architecture);

}  // namespace ebb::cuda
