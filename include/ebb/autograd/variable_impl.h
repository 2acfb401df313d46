// VariableImpl: the object that a Variable refers to.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/core/ndarray.h>
#include <ebb/core/ref.h>
#include <ebb/fwd.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace ebb {

namespace detail {
/// Twice the number of recordings that ebb::compile has begun, plus one while a recording is running.
extern EBB_API constinit std::atomic<std::uint32_t> tape_time;
}  // namespace detail

namespace autograd {
struct AutogradMeta;  // .grad, hooks, view history: members that few tensors need
}  // namespace autograd

struct EBB_API VariableImpl : RefCounted<VariableImpl> {
  /// Creates an impl. Its array is the result of make(), constructed in place.
  template <std::invocable Make>
  static Ref<VariableImpl> of(const Make& make) {
    return Ref<VariableImpl>::adopt(new VariableImpl(make));
  }
  ~VariableImpl();
  static void destroy(VariableImpl* impl) noexcept { delete impl; }
  /// Allocates from the pool.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* block, std::size_t bytes) noexcept;

  /// The tape_time at which the tensor was created. A tape ignores tensors that are newer than itself.
  const std::uint32_t born = detail::tape_time.load(std::memory_order_relaxed);

  std::uint32_t version() const { return data.storage()->version(); }

  NdArray data;
  Ref<autograd::Node> grad_fn;
  autograd::AutogradMeta* meta = nullptr;
  std::uint32_t output_nr = 0;
  bool requires_grad = false;  // true only for leaves; tensors with a grad_fn always require grad
  bool inference;

 private:
  template <std::invocable Make>
  explicit VariableImpl(const Make& make) : data(make()), inference(InferenceMode::is_enabled()) {}
};

}  // namespace ebb
