// Includes ebb or libtorch under the name torch::, so that a source compiles against both. Also defines
// threads(), the number of threads.
#pragma once

#ifdef EBB_FIDELITY_TORCH
#include <torch/torch.h>
#else
#include <ebb/ebb.h>
namespace torch = ebb;
#define TORCH_MODULE EBB_MODULE
#endif

#include <cstdlib>

namespace bench {

/// Returns the number of threads of both libraries: OMP_NUM_THREADS, or one.
inline int threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  return text ? std::atoi(text) : 1;
}

}  // namespace bench
