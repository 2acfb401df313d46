// Kernel slots: each contains the function pointers of one kernel, one per device. A macro declares the slots
// of a family of kernels from one list of their names.
//
//   #define EBB_SHAPE_KERNELS(X) X(join, "join"); X(triangle, "triangle");
//   EBB_DECLARE_KERNELS(EBB_SHAPE_KERNELS)
//
// An entry names a function of ebb::cpu, declared above the list, and the op's name in errors and profiles.
// The list is in a header of the family. cmake/EbbSlots.cmake finds it there and generates the sources that
// define the slots and fill them with the functions of ebb::cuda. If a kernel has no definition, linking
// fails.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/isa.h>
#include <ebb/cuda/nvtx.h>

#include "core/allocator.h"
#include "kernel/call/kept_call.h"

#include <array>
#include <atomic>
#include <type_traits>

namespace ebb {

namespace detail {
/// Loads the backend's plugin if necessary, which fills the kernel slots. Throws if the plugin cannot be
/// loaded.
EBB_API void require_backend(DeviceType type);

/// Opens the profiler's range of an op on a device: see cuda::emit_nvtx.
EBB_API void push_op_range(const char* name);
EBB_API void pop_op_range() noexcept;

class OpRange {
 public:
  explicit OpRange(const char* name) : open_(nvtx_emitted.load(std::memory_order_relaxed)) {
    if (open_) [[unlikely]]
      push_op_range(name);
  }
  ~OpRange() {
    if (open_) [[unlikely]]
      pop_op_range();
  }
  OpRange(const OpRange&) = delete;

 private:
  bool open_;
};
}  // namespace detail

template <class Signature>
class KernelSlot;

/// A kernel that returns bool belongs to a device library and may decline a call. It then returns false and
/// has written nothing. The CPU has no such library, so its slot declines every call.
template <class R, class... Args>
class KernelSlot<R(Args...)> : public detail::AnySlot {
 public:
  using Function = R (*)(Args...);
  using Kept = detail::KeptSlotCall<R(Args...)>;
  static constexpr bool kMayDecline = std::is_same_v<R, bool>;

  constexpr KernelSlot(const char* name, const std::array<Function, detail::kCpuLevels>& cpu,
                       const detail::KernelTraits& traits = {})
      : AnySlot(name, traits), cpu_(cpu) {}
  KernelSlot(const KernelSlot&) = delete;

  R operator()(Device device, Args... args) const {
    if constexpr (kMayDecline)
      if (device.is_cpu()) return false;
    return detail::name_memory_errors(name(), [&]() -> R {
      if (device.is_cpu() && detail::recordings.load(std::memory_order_relaxed) == 0) [[likely]]
        return cpu()(static_cast<Args>(args)...);
      return out_of_line(device, static_cast<Args>(args)...);
    });
  }
  void set_cuda(Function kernel) { cuda_.store(kernel, std::memory_order_release); }

 private:
  Function cpu() const { return cpu_[detail::cpu_level.load(std::memory_order_relaxed)]; }
  [[gnu::noinline]] R out_of_line(Device device, Args... args) const {
    if (device.is_cpu()) return detail::call_recorded<R, Args...>(*this, cpu(), static_cast<Args>(args)...);
    detail::require_backend(device.type());
    const Function kernel = cuda_.load(std::memory_order_acquire);
    EBB_CHECK(kernel, name(), ": has no kernel for ", device, "; move its inputs with .to(Device::CPU).");
    const detail::OpRange range(name());
    if (detail::recorder())
      return detail::call_recorded<R, Args...>(*this, kernel, static_cast<Args>(args)...);
    return kernel(static_cast<Args>(args)...);
  }

  std::array<Function, detail::kCpuLevels> cpu_;
  std::atomic<Function> cuda_{nullptr};
};

/// The slot of a kernel that is a template instance. With nvcc, the decltype of such a function is a
/// reference.
template <class F>
using SlotOf = KernelSlot<std::remove_reference_t<F>>;

namespace detail {
/// The traits of a kernel's slot. A family's header specializes it for kernels with traits.
template <auto kernel>
inline constexpr KernelTraits traits_of{};
}  // namespace detail

}  // namespace ebb

/// Declares, at global scope, the slots ebb::kernels::f and the CUDA kernels ebb::cuda::f of a list.
#define EBB_DECLARE_KERNELS(LIST) \
  namespace ebb::kernels {        \
  LIST(EBB_DECLARE_SLOT)          \
  }                               \
  namespace ebb::cuda {           \
  LIST(EBB_DECLARE_CUDA_KERNEL)   \
  }

#define EBB_DECLARE_SLOT(kernel, op) extern EBB_API KernelSlot<decltype(cpu::kernel)> kernel
#define EBB_DECLARE_CUDA_KERNEL(kernel, op) decltype(ebb::cpu::kernel) kernel
