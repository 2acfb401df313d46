// The switches of a process under the names that libtorch's context has for them.
#pragma once

#include <ebb/core/deterministic.h>
#include <ebb/core/device.h>
#include <ebb/core/random.h>
#include <ebb/cuda/cuda.h>

#include <string>

namespace ebb {

/// What `at::globalContext()` returns. Every function sets or asks what the function named beside it does.
class Context {
 public:
  /// cuda::allow_tf32: one switch for products and convolutions, off unless set.
  void setAllowTF32CuBLAS(bool allow) { cuda::allow_tf32(allow); }
  void setAllowTF32CuDNN(bool allow) { cuda::allow_tf32(allow); }
  bool allowTF32CuBLAS() const { return cuda::is_tf32_allowed(); }
  bool allowTF32CuDNN() const { return cuda::is_tf32_allowed(); }
  /// The same by names: "highest" forbids TF32, "high" and "medium" allow it.
  void setFloat32MatmulPrecision(const std::string& precision) { cuda::allow_tf32(precision != "highest"); }
  std::string float32MatmulPrecision() const { return cuda::is_tf32_allowed() ? "high" : "highest"; }
  /// cuda::benchmark_convolutions.
  void setBenchmarkCuDNN(bool benchmark) { cuda::benchmark_convolutions(benchmark); }
  bool benchmarkCuDNN() const { return cuda::are_convolutions_benchmarked(); }
  /// cuda::enable_cudnn.
  void setUserEnabledCuDNN(bool enable) { cuda::enable_cudnn(enable); }
  bool userEnabledCuDNN() const { return cuda::is_cudnn_enabled(); }
  /// cuda::use_deterministic_cudnn.
  void setDeterministicCuDNN(bool deterministic) { cuda::use_deterministic_cudnn(deterministic); }
  bool deterministicCuDNN() const { return cuda::is_cudnn_deterministic(); }
  /// use_deterministic_algorithms. ebb has a deterministic way for every op, and nothing to warn of.
  void setDeterministicAlgorithms(bool deterministic, bool /*warn_only*/ = false) {
    use_deterministic_algorithms(deterministic);
  }
  bool deterministicAlgorithms() const { return are_deterministic_algorithms_enabled(); }
  bool deterministicAlgorithmsWarnOnly() const { return false; }

  bool hasCUDA() const { return cuda::is_available(); }
  bool hasCuDNN() const { return cuda::cudnn_is_available(); }
  std::size_t getNumGPUs() const { return cuda::device_count(); }
  /// Does nothing: what a device needs is made when it is first used.
  void lazyInitCUDA() const {}
  /// ebb's own kernels do what these libraries would.
  bool hasMKL() const { return false; }
  bool hasMKLDNN() const { return false; }
  bool hasMPS() const { return false; }
  /// False: denormal numbers are computed with.
  bool setFlushDenormal(bool /*flush*/) { return false; }
  /// The generator that ops on the CPU draw from unless they are given another. Those of CUDA devices cannot
  /// be had, only seeded (cuda::manual_seed): an error.
  Generator& defaultGenerator(Device device = kCPU) const {
    EBB_CHECK(device.is_cpu(), "Context::defaultGenerator: the generator of ", device,
              " cannot be had. cuda::manual_seed seeds it.");
    return default_generator();
  }
};

/// The process's switches. (torch: at::globalContext)
inline Context& globalContext() {
  static Context context;
  return context;
}

}  // namespace ebb
