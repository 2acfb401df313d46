// Kernels that are compiled at run time, and the headers for them, embedded in the plugin at build time.
#pragma once

#include "core/backend.h"

#include <memory>
#include <span>
#include <string>

namespace ebb::cuda {

/// Implements Backend::make_kernel. Kernels are cached in memory, by source and device, and in files
/// (cuda/cache_files.h).
std::shared_ptr<const ebb::detail::JitKernel> make_kernel(Device device, const std::string& source);

// The following functions are implemented with NVRTC, or in the emulation with the host's compiler.

/// Returns a description of the compiler, its options and the architecture. The image depends only on this
/// description, the source and ebb's headers. Throws ebb::Error if there is no compiler.
std::string compiler_for(Device device);
/// Compiles the source and returns the image. Throws ebb::Error with the compiler's messages.
std::string compile_kernel(Device device, const std::string& source);
/// Loads an image. Throws ebb::Error if the device cannot load it.
std::shared_ptr<const ebb::detail::JitKernel> load_kernel(Device device, const std::string& image);

/// A header that kernels include.
struct EmbeddedHeader {
  const char* name;  ///< the name in an #include
  const char* text;
};

/// Returns ops/elementwise/cuda_chain_columns.h, all headers that it includes, and the replacement of the
/// standard headers.
std::span<const EmbeddedHeader> embedded_headers();
/// Returns a digest of the texts of all embedded headers.
const char* digest_of_headers();

}  // namespace ebb::cuda
