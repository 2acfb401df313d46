// TensorArg and checks of function arguments.
#pragma once

#include <ATen/Tensor.h>
#include <c10/util/Exception.h>

#include <initializer_list>

namespace at {

/// The name of the function that checks its arguments.
using CheckedFrom = const char*;

/// A tensor argument with its name and its position, counted from 1.
struct TensorArg {
  TensorArg(const Tensor& tensor_, const char* name_, int pos_) : tensor(tensor_), name(name_), pos(pos_) {}
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }

  const Tensor& tensor;
  const char* name;
  int pos;
};

inline std::ostream& operator<<(std::ostream& out, const TensorArg& argument) {
  return out << "argument #" << argument.pos << " '" << argument.name << '\'';
}

inline void checkDefined(CheckedFrom who, const TensorArg& x) {
  TORCH_CHECK(x->defined(), "Expected tensor for ", x, " to be defined (while checking arguments for ", who,
              ')');
}
inline void checkDim(CheckedFrom who, const TensorArg& x, std::int64_t dim) {
  TORCH_CHECK(x->dim() == dim, "Expected ", dim, "-dimensional tensor, but got ", x->dim(),
              "-dimensional tensor for ", x, " (while checking arguments for ", who, ')');
}
inline void checkContiguous(CheckedFrom who, const TensorArg& x) {
  TORCH_CHECK(x->is_contiguous(), "Expected contiguous tensor for ", x, " (while checking arguments for ",
              who, ')');
}
inline void checkNumel(CheckedFrom who, const TensorArg& x, std::int64_t numel) {
  TORCH_CHECK(x->numel() == numel, "Expected tensor for ", x, " to have ", numel, " elements; but it has ",
              x->numel(), " elements (while checking arguments for ", who, ')');
}
inline void checkSize(CheckedFrom who, const TensorArg& x, IntArrayRef sizes) {
  TORCH_CHECK(x->sizes() == sizes, "Expected tensor of size ", sizes, ", but got tensor of size ", x->sizes(),
              " for ", x, " (while checking arguments for ", who, ')');
}
inline void checkSameSize(CheckedFrom who, const TensorArg& x, const TensorArg& y) {
  TORCH_CHECK(x->sizes() == y->sizes(), "Expected tensor for ", x, " to have same size as tensor for ", y,
              "; but ", x->sizes(), " does not equal ", y->sizes(), " (while checking arguments for ", who,
              ')');
}
inline void checkScalarType(CheckedFrom who, const TensorArg& x, ScalarType type) {
  TORCH_CHECK(x->scalar_type() == type, "Expected tensor for ", x, " to have scalar type ", toString(type),
              "; but got ", toString(x->scalar_type()), " instead (while checking arguments for ", who, ')');
}
inline void checkSameType(CheckedFrom who, const TensorArg& x, const TensorArg& y) {
  TORCH_CHECK(x->scalar_type() == y->scalar_type() && x->device().type() == y->device().type(),
              "Expected tensor for ", x, " to have the same type as tensor for ", y, "; but type ",
              toString(x->scalar_type()), " does not equal ", toString(y->scalar_type()),
              " (while checking arguments for ", who, ')');
}

}  // namespace at
