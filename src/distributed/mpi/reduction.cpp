// Reduction: the datatype and the MPI_Op of a dtype and a ReduceOp.
#include "distributed/mpi/reduction.h"

#include <ebb/core/visit.h>

namespace ebb::distributed::mpi {
namespace {

// The function of an MPI_Op: b = a op b for each pair of elements. T computes in float if it has 16 bits.
template <class T, ReduceOp op>
void combine(void* from, void* to, int* count, MPI_Datatype*) {
  using Real = std::conditional_t<sizeof(T) == 2, float, T>;
  const T* const a = static_cast<const T*>(from);
  T* const b = static_cast<T*>(to);
  for (int i = 0; i < *count; ++i) {
    const Real x = a[i], y = b[i];
    if constexpr (op == ReduceOp::SUM)
      b[i] = x + y;
    else if constexpr (op == ReduceOp::PRODUCT)
      b[i] = x * y;
    else if constexpr (op == ReduceOp::MIN)
      b[i] = x < y || x != x ? x : y;
    else
      b[i] = x > y || x != x ? x : y;
  }
}

template <class T, ReduceOp op>
MPI_Op own_op() {
  static const MPI_Op made = [] {
    MPI_Op result = MPI_OP_NULL;
    MPI_Op_create(&combine<T, op>, /*commute=*/1, &result);
    return result;
  }();
  return made;
}

template <class T>
MPI_Op floating_op(ReduceOp op) {
  if (op == ReduceOp::MIN) return own_op<T, ReduceOp::MIN>();
  if (op == ReduceOp::MAX) return own_op<T, ReduceOp::MAX>();
  if constexpr (sizeof(T) == 2)
    return op == ReduceOp::PRODUCT ? own_op<T, ReduceOp::PRODUCT>() : own_op<T, ReduceOp::SUM>();
  else
    return op == ReduceOp::PRODUCT ? MPI_PROD : MPI_SUM;
}

MPI_Op integer_op(ReduceOp op, bool boolean) {
  if (boolean) return op == ReduceOp::PRODUCT || op == ReduceOp::MIN ? MPI_LAND : MPI_LOR;
  if (op == ReduceOp::PRODUCT) return MPI_PROD;
  if (op == ReduceOp::MIN) return MPI_MIN;
  return op == ReduceOp::MAX ? MPI_MAX : MPI_SUM;
}

MPI_Datatype datatype(DType dtype) {
  switch (dtype) {
    case kChar:
      return MPI_INT8_T;
    case kShort:
      return MPI_INT16_T;
    case kInt:
      return MPI_INT32_T;
    case kLong:
      return MPI_INT64_T;
    case kFloat:
      return MPI_FLOAT;
    case kDouble:
      return MPI_DOUBLE;
    case kHalf:
    case kBFloat16:
      return MPI_UINT16_T;
    default:
      return MPI_UINT8_T;
  }
}

}  // namespace

Reduction reduction(DType dtype, ReduceOp op) {
  if (!is_floating(dtype)) return {datatype(dtype), integer_op(op, dtype == kBool)};
  return {datatype(dtype), visit_floating(dtype, "all_reduce", [op]<class T> { return floating_op<T>(op); })};
}

void divide(void* data, DType dtype, std::int64_t count, int ranks) {
  visit_floating(dtype, "all_reduce", [&]<class T> {
    using Real = std::conditional_t<sizeof(T) == 2, float, T>;
    for (T *x = static_cast<T*>(data), *end = x + count; x != end; ++x)
      *x = Real(*x) / static_cast<Real>(ranks);
  });
}

}  // namespace ebb::distributed::mpi
