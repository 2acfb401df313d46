// What a Variable points to.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/core/ndarray.h>
#include <ebb/core/ref.h>
#include <ebb/fwd.h>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace ebb {

namespace autograd {
struct AutogradMeta;  // .grad, hooks, view history: what few tensors have
}  // namespace autograd

struct EBB_API VariableImpl : RefCounted<VariableImpl> {
  /// Around the array that make() returns, in place.
  template <std::invocable Make>
  static Ref<VariableImpl> of(const Make& make) {
    return Ref<VariableImpl>::adopt(new VariableImpl(make));
  }
  ~VariableImpl();
  static void destroy(VariableImpl* impl) noexcept { delete impl; }
  /// From the pool.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* block, std::size_t bytes) noexcept;

  std::uint32_t version() const { return data.storage()->version(); }

  NdArray data;
  Ref<autograd::Node> grad_fn;
  autograd::AutogradMeta* meta = nullptr;
  std::uint32_t output_nr = 0;
  bool requires_grad = false;  // of a leaf; tensors with a grad_fn always do
  bool inference;

 private:
  template <std::invocable Make>
  explicit VariableImpl(const Make& make) : data(make()), inference(InferenceMode::is_enabled()) {}
};

}  // namespace ebb
