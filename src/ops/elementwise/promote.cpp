// Type promotion of the public interface: result_type and can_cast.
#include "ops/elementwise/promote.h"

#include <ebb/ops/elementwise.h>

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
