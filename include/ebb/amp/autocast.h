// Mixed precision: ops choose their dtype while autocast is on.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/device.h>
#include <ebb/core/dtype.h>
#include <ebb/core/options.h>

#include <cstdint>

namespace ebb {

/// The thread's settings, one by one (torch: at::autocast). Scopes of amp::autocast set and restore them.
namespace autocast {

/// Whether listed ops on devices of this type cast their inputs. False inside such an op, and in backward.
EBB_API bool is_autocast_enabled(DeviceType device);
EBB_API void set_autocast_enabled(DeviceType device, bool enabled);
/// The 16-bit dtype: at first kBFloat16 on the CPU and kHalf on CUDA. Setting another than these two throws.
EBB_API DType get_autocast_dtype(DeviceType device);
EBB_API void set_autocast_dtype(DeviceType device, DType dtype);
/// Whether casts of weights are kept for the next use. They are kept while a scope is open: from the first
/// increment_nesting() to the decrement_nesting() that returns 0.
EBB_API bool is_autocast_cache_enabled();
EBB_API void set_autocast_cache_enabled(bool enabled);
EBB_API int increment_nesting();
EBB_API int decrement_nesting();
EBB_API void clear_cache();

// The names of libtorch 1.13; those that name no device speak of CUDA.
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

/// In its scope, ops on devices of one type compute in the dtype that suits them (torch.autocast):
/// matrix products, convolutions and attention in `dtype`, 16 bits wide; what needs range or precision in
/// Float; ops of several inputs in the widest of these. src/ops/common/autocast_lists.h has PyTorch's lists.
/// All others compute in the dtypes that they meet. Double tensors and integers are left alone, and so is
/// what ops write in place.
///
///     {
///       const amp::autocast casting(kCUDA, kBFloat16);
///       loss = cross_entropy(model->forward(x), y);
///     }
///     loss.backward();
///
/// Casts are recorded: gradients come back in the parameters' dtype. The cast of a parameter is made once in
/// the outermost scope, and again after the parameter was written to. Scopes nest, and `enabled = false`
/// switches it off inside. It belongs to the calling thread; a checkpoint's second run and the backward() of
/// an autograd::Function run as their forward did.
class EBB_API autocast {
 public:
  /// `dtype`: kBFloat16 or kHalf; the device's default (get_autocast_dtype) unless given. Another one warns
  /// and switches autocast off, as PyTorch does.
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
