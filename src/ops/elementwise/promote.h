// torch's type promotion: tensors with dimensions determine the dtype; 0-d tensors and then scalars only
// raise its category.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

class PromotionState {
 public:
  /// Adds a Variable or an array.
  template <class Tensor>
  void add(const Tensor& x) {
    merge(x.dim() == 0 ? zero_dim_ : dimensioned_, x.dtype());
  }
  void add(const Scalar& s) { merge(number_, s.is_floating_point() ? get_default_dtype() : s.dtype()); }
  DType result() const { return combine(dimensioned_, combine(zero_dim_, number_)); }

 private:
  static void merge(DType& into, DType dtype) {
    into = into == DType::Undefined ? dtype : promote_types(into, dtype);
  }
  // `lower` counts only if its category is higher (bool < integer < floating).
  static DType combine(DType higher, DType lower) {
    if (higher == DType::Undefined) return lower;
    if (lower == DType::Undefined || is_floating(higher)) return higher;
    if (higher == kBool || is_floating(lower)) return promote_types(higher, lower);
    return higher;
  }

  DType dimensioned_ = DType::Undefined, zero_dim_ = DType::Undefined, number_ = DType::Undefined;
};

}  // namespace ebb::ops
