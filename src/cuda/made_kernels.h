// Kernels that are compiled while a program runs.
#pragma once

#include "core/backend.h"

#include <memory>
#include <string>

namespace ebb::cuda {

/// See Backend::make_kernel. Kept in memory, a kernel a source and device, and in files (cuda/kept_files.h).
std::shared_ptr<const ebb::detail::MadeKernel> make_kernel(Device device, const std::string& source);

// By NVRTC, or in the emulation by the host's compiler.

/// What an image depends on besides its source and ebb's headers: the compiler, its options, the
/// architecture. Throws ebb::Error where there is no compiler.
std::string compiler_for(Device device);
/// Throws ebb::Error with the compiler's words.
std::string compile_kernel(Device device, const std::string& source);
/// Throws ebb::Error where the device cannot load it.
std::shared_ptr<const ebb::detail::MadeKernel> load_kernel(Device device, const std::string& image);

}  // namespace ebb::cuda
