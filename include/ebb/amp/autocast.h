// autocast: mixed precision. While it is on, each op chooses the dtype that it computes in.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/device.h>
#include <ebb/core/dtype.h>
#include <ebb/core/options.h>

#include <cstdint>

namespace ebb {

/// The thread's autocast settings (torch: at::autocast). Scopes of amp::autocast set and restore them.
namespace autocast {

/// Returns whether ops of the autocast lists cast their inputs on devices of this type. Returns false inside
/// such an op and in backward.
EBB_API bool is_autocast_enabled(DeviceType device);
EBB_API void set_autocast_enabled(DeviceType device, bool enabled);
/// The 16-bit dtype. The default is kBFloat16 on the CPU and kHalf on CUDA; any other dtype throws.
EBB_API DType get_autocast_dtype(DeviceType device);
EBB_API void set_autocast_dtype(DeviceType device, DType dtype);
/// Returns whether casts of weights are cached. The cache exists while a scope is open: from the first
/// increment_nesting() to the decrement_nesting() that returns 0.
EBB_API bool is_autocast_cache_enabled();
EBB_API void set_autocast_cache_enabled(bool enabled);
EBB_API int increment_nesting();
EBB_API int decrement_nesting();
EBB_API void clear_cache();

// The names of libtorch 1.13. The functions without a device argument refer to CUDA.
inline bool is_enabled() { return is_autocast_enabled(kCUDA); }
inline void set_enabled(bool enabled) { set_autocast_enabled(kCUDA, enabled); }
inline bool is_cpu_enabled() { return is_autocast_enabled(kCPU); }
inline void set_cpu_enabled(bool enabled) { set_autocast_enabled(kCPU, enabled); }
inline DType get_autocast_gpu_dtype() { return get_autocast_dtype(kCUDA); }
inline void set_autocast_gpu_dtype(DType dtype) { set_autocast_dtype(kCUDA, dtype); }
inline DType get_autocast_cpu_dtype() { return get_autocast_dtype(kCPU); }
inline void set_autocast_cpu_dtype(DType dtype) { set_autocast_dtype(kCPU, dtype); }

}  // namespace autocast

namespace amp {

/// In its scope, ops on devices of one type choose the dtype that they compute in (torch.autocast). Matrix
/// products, convolutions and attention use `dtype`, which has 16 bits. Ops that need range or precision use
/// Float. Ops with several inputs use the widest dtype among them. src/ops/common/autocast_lists.h contains
/// PyTorch's lists of these ops. All other ops use the dtypes of their inputs. Autocast does not cast tensors
/// of Double or of integer dtypes, nor outputs of in-place ops.
///
///     {
///       const amp::autocast casting(kCUDA, kBFloat16);
///       loss = cross_entropy(model->forward(x), y);
///     }
///     loss.backward();
///
/// Casts are recorded, so gradients have the parameters' dtype. A parameter is cast once in the outermost
/// scope, and again after a write to the parameter. Scopes nest, and `enabled = false` switches autocast off
/// in the inner scope. The setting belongs to the calling thread. The recomputation of a checkpoint and the
/// backward() of an autograd::Function run with the setting of their forward.
class EBB_API autocast {
 public:
  /// `dtype` is kBFloat16 or kHalf; the default is get_autocast_dtype(device). Any other dtype warns and
  /// switches autocast off, as in PyTorch.
  explicit autocast(DeviceType device, optional<DType> dtype = nullopt, bool enabled = true,
                    optional<bool> cache_enabled = nullopt);
  ~autocast();
  autocast(const autocast&) = delete;
  autocast& operator=(const autocast&) = delete;

 private:
  DeviceType device_;
  bool previous_cache_enabled_;
  std::uint8_t previous_devices_;
  DType previous_dtype_;
};

}  // namespace amp

}  // namespace ebb
