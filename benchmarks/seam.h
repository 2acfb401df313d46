// What lets one source be compiled against ebb and against libtorch, and the number of threads.
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

/// OMP_NUM_THREADS decides for both libraries; the default is one thread.
inline int threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  return text ? std::atoi(text) : 1;
}

}  // namespace bench
