// Slow paths of apply.h: promotion, broadcasting, operands on several devices, in-place ops. Also result_type
// and can_cast, the public functions of type promotion.
#include "ops/elementwise/apply.h"

#include <ebb/autograd/variable.h>
#include <ebb/core/visit.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include "core/recorder.h"
#include "ops/common/checks.h"
#include "ops/common/kernels.h"
#include "ops/elementwise/record.h"

#include <cstring>

namespace ebb::ops {
namespace {

// Type promotion as in torch. Tensors with dimensions determine the dtype. 0-d tensors change it only if
// their category is higher, and scalars only if their category is higher than that of all tensors.
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
  // Combines the dtypes of operands of higher and lower priority. `lower` changes the result only if its
  // category is higher (bool < integer < floating).
  static DType combine(DType higher, DType lower) {
    if (higher == DType::Undefined) return lower;
    if (lower == DType::Undefined || is_floating(higher)) return higher;
    if (higher == kBool || is_floating(lower)) return promote_types(higher, lower);
    return higher;
  }

  DType dimensioned_ = DType::Undefined, zero_dim_ = DType::Undefined, number_ = DType::Undefined;
};

}  // namespace

NdArray empty_like(const NdArray& x, DType dtype) {
  if (!x.is_contiguous() && x.is_dense())
    return NdArray::empty_strided(x.sizes(), x.strides(), dtype, x.device());
  return NdArray::empty(x.sizes(), dtype, x.device());
}

NdArray converted(const NdArray& x, DType dtype) {
  NdArray out = empty_like(x, dtype);
  kernels::copy(x.device(), out, x);
  return out;
}

DType compute_dtype(const char* op, Types types, DType promoted) {
  if (has_type(types, promoted)) return promoted;
  if (types == Types::floating) return get_default_dtype();
  const char* expected = types == Types::numeric         ? "an integer or floating-point dtype, not bool"
                         : types == Types::integral      ? "an integer dtype"
                         : types == Types::integral_bool ? "an integer dtype or bool"
                                                         : "a floating-point dtype";
  ebb::detail::unsupported_dtype(op, promoted, expected);
}

namespace {

// Reads a 0-d tensor on the CPU as a scalar. This avoids a conversion kernel and permits other operands on
// another device.
Scalar number_in(const NdArray& x) {
  return visit_all(x.dtype(), "item", [&]<class T>() -> Scalar { return Scalar(*x.address_as<T>()); });
}

}  // namespace

KeptOperand::KeptOperand(const Operand& x) : value_(x.value), number_(!x.array) {
  if (x.array) array_ = *x.array;
  if (x.read_from) array_ = *x.read_from;
}
KeptOperand::~KeptOperand() = default;
KeptOperand::operator Operand() const {
  Operand now = given();
  if (now.read_from) now.value = number_in(array_);
  return now;
}
Operand KeptOperand::given() const {
  if (!number_) return Operand(array_);
  return array_.defined() ? Operand(value_, array_) : Operand(value_);
}
void KeptOperand::visit(detail::ArgumentVisitor& v) {
  v.open(detail::ArgumentVisitor::Group::record, typeid(KeptOperand));
  detail::visit_argument(number_, v);
  if (array_.defined())
    v.array(array_);
  else
    v.scalar(value_);
  v.close();
}

const NdArray& undefined_array() {
  static const NdArray undefined;
  return undefined;
}

namespace {

bool same_view(const NdArray& a, const NdArray& b) {
  return a.offset() == b.offset() && a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

}  // namespace

void prepare(const char* op, Types types, const Operand* inputs, int count, Prepared& p, bool condition) {
  const int first_typed = condition ? 1 : 0;
  PromotionState state;
  const NdArray* placed = nullptr;  // the tensor that determines the device
  for (int i = 0; i < count; ++i) {
    const NdArray* const x = inputs[i].array;
    if (!x) {
      if (i >= first_typed) state.add(inputs[i].value);
      continue;
    }
    EBB_CHECK(x->defined(), op, ": expected a tensor, got an undefined one. Assign it before use.");
    if (i >= first_typed) state.add(*x);
    if (!placed || (placed->dim() == 0 && placed->device().is_cpu())) placed = x;
  }
  p.device = placed->device();
  p.dtype = compute_dtype(op, types, state.result());
  bool shaped = false;
  for (int i = 0; i < count; ++i) {
    if (!inputs[i].array) {
      p.operands[i] = inputs[i];
      continue;
    }
    const NdArray& x = *inputs[i].array;
    const bool number = x.dim() == 0 && x.device().is_cpu();
    EBB_CHECK(x.device() == p.device || number, op, ": expected all tensors on one device, got ", p.device,
              " and ", x.device(), ". Move one with .to(device).");
    const DType wanted = i < first_typed ? kBool : p.dtype;
    if (x.dtype() == wanted && x.device() == p.device)
      p.operands[i] = x;
    else if (number)
      p.operands[i] = Operand(number_in(x), x);
    else
      p.operands[i] = p.held[i] = converted(x, wanted);
    if (!shaped)
      p.sizes = DimVector(x.sizes());
    else if (IntArrayRef(p.sizes) != x.sizes())
      p.sizes = broadcast_shapes(op, p.sizes, x.sizes());
    shaped = true;
  }
  for (int i = 0; i < count && !p.like; ++i) {
    const NdArray* x = inputs[i].array;
    if (x && IntArrayRef(p.sizes) == x->sizes() && x->is_dense()) p.like = x;
  }
}

NdArray make_output(const Prepared& p, DType dtype) {
  if (p.like && !p.like->is_contiguous())
    return NdArray::empty_strided(p.sizes, p.like->strides(), dtype, p.device);
  return NdArray::empty(p.sizes, dtype, p.device);
}

NdArray& inplace_target(const char* op, Types types, bool gives_bool, const Variable& self,
                        const Operand* inputs, int count, Prepared& p, NdArray& temporary) {
  prepare(op, types, inputs, count, p);
  NdArray& target = self.impl()->data;
  const DType result = gives_bool ? self.dtype() : p.dtype;
  EBB_CHECK(can_cast(result, self.dtype()), op, "_: result type ", result,
            " can't be cast to the desired output type ", self.dtype(), ". Convert self first, or use ", op,
            " out of place.");
  EBB_CHECK(IntArrayRef(p.sizes) == self.sizes(), op, "_: output with shape ", self.sizes(),
            " doesn't match the broadcast shape ", IntArrayRef(p.sizes),
            ". In-place ops cannot grow self; use ", op, " out of place.");
  EBB_CHECK(self.device() == p.device, op, "_: self is on ", self.device(), " but the other operand on ",
            p.device, ". Move one with .to(device).");
  for (int i = 0; i < count; ++i) {
    // An operand that shares memory with self, but is not the same view, is copied. Otherwise its elements
    // would be overwritten before they are read.
    const NdArray* x = p.operands[i].array;
    if (x && x->storage()->is_alias_of(*target.storage()) && !same_view(*x, target)) {
      const NdArray alias = *x;
      p.held[i] = converted(alias, alias.dtype());
      p.operands[i] = p.held[i];
    }
  }
  if (p.dtype == self.dtype() && !gives_bool) return target;
  temporary = NdArray::empty(self.sizes(), gives_bool ? kBool : p.dtype, self.device());
  return temporary;
}

void finish_inplace(const Variable& self, const NdArray& computed) {
  NdArray& target = self.impl()->data;
  if (&computed != &target) kernels::copy(target.device(), target, computed);
}

bool all_true(const Variable& x) {
  const Variable on_cpu = x.is_cpu() ? x : x.cpu();
  ebb::detail::host_access(on_cpu.array());
  return !std::memchr(on_cpu.array().address(), 0, static_cast<std::size_t>(on_cpu.numel()));
}

std::string node_name(const char* name) {
  std::string out;
  bool upper = true;
  for (; *name; ++name) {
    if (*name == '_')
      upper = true;
    else
      out += upper ? static_cast<char>(*name - 'a' + 'A') : *name, upper = false;
  }
  return out + "Backward0";
}

}  // namespace ebb::ops

namespace ebb {
namespace {

template <class A, class B>
DType promoted(const A& a, const B& b) {
  ops::PromotionState state;
  state.add(a);
  state.add(b);
  return state.result();
}

}  // namespace

DType result_type(const Variable& a, const Variable& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  return promoted(a, b);
}
DType result_type(const Variable& a, const Scalar& b) { return promoted(a, b); }
DType result_type(const Scalar& a, const Variable& b) { return promoted(a, b); }
DType result_type(const Scalar& a, const Scalar& b) { return promoted(a, b); }

bool can_cast(DType from, DType to) {
  if (is_floating(from) && !is_floating(to)) return false;
  return from == kBool || to != kBool;
}

}  // namespace ebb
