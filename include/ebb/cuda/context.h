// The switches of a process under the names that libtorch's context has for them.
#pragma once

#include <ebb/core/deterministic.h>
#include <ebb/core/random.h>
#include <ebb/cuda/cuda.h>

namespace ebb {

/// What `at::globalContext()` returns. Every function sets or asks what the function named beside it does.
class Context {
 public:
  /// cuda::allow_tf32: one switch for products and convolutions, off unless set.
  void setAllowTF32CuBLAS(bool allow) { cuda::allow_tf32(allow); }
  void setAllowTF32CuDNN(bool allow) { cuda::allow_tf32(allow); }
  bool allowTF32CuBLAS() const { return cuda::is_tf32_allowed(); }
  bool allowTF32CuDNN() const { return cuda::is_tf32_allowed(); }
  /// cuda::benchmark_convolutions.
  void setBenchmarkCuDNN(bool benchmark) { cuda::benchmark_convolutions(benchmark); }
  bool benchmarkCuDNN() const { return cuda::are_convolutions_benchmarked(); }
  /// cuda::enable_cudnn.
  void setUserEnabledCuDNN(bool enable) { cuda::enable_cudnn(enable); }
  bool userEnabledCuDNN() const { return cuda::is_cudnn_enabled(); }
  /// use_deterministic_algorithms.
  void setDeterministicAlgorithms(bool deterministic) { use_deterministic_algorithms(deterministic); }
  bool deterministicAlgorithms() const { return are_deterministic_algorithms_enabled(); }

  bool hasCUDA() const { return cuda::is_available(); }
  std::size_t getNumGPUs() const { return cuda::device_count(); }
  /// The generator that ops on the CPU draw from unless they are given another.
  Generator& defaultGenerator() const { return default_generator(); }
};

/// The process's switches. (torch: at::globalContext)
inline Context& globalContext() {
  static Context context;
  return context;
}

}  // namespace ebb
