// Context: settings of the process, with the names of libtorch's context.
#pragma once

#include <ebb/core/deterministic.h>
#include <ebb/core/device.h>
#include <ebb/core/random.h>
#include <ebb/cuda/cuda.h>

#include <string>

namespace ebb {

/// The type of `at::globalContext()`. Each function calls the function of ebb that its comment names.
class Context {
 public:
  /// Calls cuda::allow_tf32: one setting for matrix products and convolutions, off by default.
  void setAllowTF32CuBLAS(bool allow) { cuda::allow_tf32(allow); }
  void setAllowTF32CuDNN(bool allow) { cuda::allow_tf32(allow); }
  bool allowTF32CuBLAS() const { return cuda::is_tf32_allowed(); }
  bool allowTF32CuDNN() const { return cuda::is_tf32_allowed(); }
  /// Calls cuda::allow_tf32: "highest" forbids TF32, "high" and "medium" allow it.
  void setFloat32MatmulPrecision(const std::string& precision) { cuda::allow_tf32(precision != "highest"); }
  std::string float32MatmulPrecision() const { return cuda::is_tf32_allowed() ? "high" : "highest"; }
  /// Calls cuda::benchmark_convolutions.
  void setBenchmarkCuDNN(bool benchmark) { cuda::benchmark_convolutions(benchmark); }
  bool benchmarkCuDNN() const { return cuda::are_convolutions_benchmarked(); }
  /// Calls cuda::enable_cudnn.
  void setUserEnabledCuDNN(bool enable) { cuda::enable_cudnn(enable); }
  bool userEnabledCuDNN() const { return cuda::is_cudnn_enabled(); }
  /// Calls cuda::use_deterministic_cudnn.
  void setDeterministicCuDNN(bool deterministic) { cuda::use_deterministic_cudnn(deterministic); }
  bool deterministicCuDNN() const { return cuda::is_cudnn_deterministic(); }
  /// Calls use_deterministic_algorithms. `warn_only` is ignored, because every op of ebb has a deterministic
  /// version.
  void setDeterministicAlgorithms(bool deterministic, bool /*warn_only*/ = false) {
    use_deterministic_algorithms(deterministic);
  }
  bool deterministicAlgorithms() const { return are_deterministic_algorithms_enabled(); }
  bool deterministicAlgorithmsWarnOnly() const { return false; }

  bool hasCUDA() const { return cuda::is_available(); }
  bool hasCuDNN() const { return cuda::cudnn_is_available(); }
  std::size_t getNumGPUs() const { return cuda::device_count(); }
  /// Does nothing, because devices are initialized on first use.
  void lazyInitCUDA() const {}
  /// Returns false, because ebb has its own kernels in place of these libraries.
  bool hasMKL() const { return false; }
  bool hasMKLDNN() const { return false; }
  bool hasMPS() const { return false; }
  /// Returns false, because ebb does not flush denormal numbers.
  bool setFlushDenormal(bool /*flush*/) { return false; }
  /// Returns the default generator of CPU ops. Throws for CUDA devices, whose generators can only be seeded
  /// (cuda::manual_seed).
  Generator& defaultGenerator(Device device = kCPU) const {
    EBB_CHECK(device.is_cpu(), "Context::defaultGenerator: the generator of ", device,
              " is not accessible. Seed it with cuda::manual_seed().");
    return default_generator();
  }
};

/// Returns the settings of the process. (torch: at::globalContext)
inline Context& globalContext() {
  static Context context;
  return context;
}

}  // namespace ebb
