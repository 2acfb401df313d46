// What a Variable points to.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/ref.h>
#include <ebb/fwd.h>

#include <cstdint>

namespace ebb {

namespace autograd {
struct AutogradMeta;  // .grad, hooks, view history: what few tensors have
}  // namespace autograd

struct EBB_API VariableImpl : RefCounted<VariableImpl> {
  explicit VariableImpl(NdArray&& array);
  ~VariableImpl();
  /// From the pool.
  static Ref<VariableImpl> make(NdArray&& array);
  static void destroy(VariableImpl* impl) noexcept;

  std::uint32_t version() const { return data.storage()->version(); }

  NdArray data;
  Ref<autograd::Node> grad_fn;
  autograd::AutogradMeta* meta = nullptr;
  std::uint32_t output_nr = 0;
  bool requires_grad = false;  // of a leaf; tensors with a grad_fn always do
  bool inference = false;
};

}  // namespace ebb
