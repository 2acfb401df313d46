// The headers for kernels that are compiled at run time, embedded in the plugin at build time.
#pragma once

#include <span>

namespace ebb::cuda {

struct EmbeddedHeader {
  const char* name;  ///< the name in an #include
  const char* text;
};

/// Returns the headers of ebb that ops/elementwise/cuda_chain_columns.h includes, and the replacement of the
/// standard library.
std::span<const EmbeddedHeader> embedded_headers();
/// Returns a digest of all texts.
const char* digest_of_headers();

}  // namespace ebb::cuda
