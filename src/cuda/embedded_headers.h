// The headers of kernels that are compiled while a program runs, as they were when the plugin was built.
#pragma once

#include <span>

namespace ebb::cuda {

struct EmbeddedHeader {
  const char* name;  ///< as an #include names it
  const char* text;
};

/// What ops/elementwise/cuda_chain_columns.h includes of ebb's, and what stands in for the standard library.
std::span<const EmbeddedHeader> embedded_headers();
/// Another one wherever a text differs.
const char* digest_of_headers();

}  // namespace ebb::cuda
