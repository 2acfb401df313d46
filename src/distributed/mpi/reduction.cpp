// reduction: the datatype and the MPI_Op of a dtype and a ReduceOp.
#include "distributed/mpi/reduction.h"

#include <ebb/core/visit.h>

namespace ebb::distributed::mpi {
namespace {

template <class T>
using Real = std::conditional_t<sizeof(T) == 2, float, T>;

// The function of an MPI_Op: b = a op b for each pair of elements.
template <class T, ReduceOp op>
void combine(void* from, void* to, int* count, MPI_Datatype*) {
  const T* const a = static_cast<const T*>(from);
  T* const b = static_cast<T*>(to);
  for (int i = 0; i < *count; ++i) {
    const Real<T> x = a[i], y = b[i];
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
MPI_Op op_of(ReduceOp op) {
  constexpr bool kOwn = sizeof(T) == 2 && std::is_class_v<T>, kLogical = std::is_same_v<T, bool>;
  const bool product = op == ReduceOp::PRODUCT;
  if constexpr (kLogical) return product || op == ReduceOp::MIN ? MPI_LAND : MPI_LOR;
  if constexpr (is_floating(dtype_of<T>())) {
    if (op == ReduceOp::MIN) return own_op<T, ReduceOp::MIN>();
    if (op == ReduceOp::MAX) return own_op<T, ReduceOp::MAX>();
  }
  if constexpr (kOwn) return product ? own_op<T, ReduceOp::PRODUCT>() : own_op<T, ReduceOp::SUM>();
  if (op == ReduceOp::MIN || op == ReduceOp::MAX) return op == ReduceOp::MIN ? MPI_MIN : MPI_MAX;
  return product ? MPI_PROD : MPI_SUM;
}

template <class T>
MPI_Datatype type_of() {
  if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
  if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
  if constexpr (sizeof(T) == 8) return MPI_INT64_T;
  if constexpr (sizeof(T) == 4) return MPI_INT32_T;
  if constexpr (sizeof(T) == 2) return MPI_INT16_T;
  return std::is_same_v<T, std::int8_t> ? MPI_INT8_T : MPI_UINT8_T;
}

}  // namespace

Reduction reduction(DType dtype, ReduceOp op) {
  return visit_all(dtype, "all_reduce", [op]<class T> { return Reduction{type_of<T>(), op_of<T>(op)}; });
}

void divide(void* data, DType dtype, std::int64_t count, int ranks) {
  visit_floating(dtype, "all_reduce", [&]<class T> {
    for (T *x = static_cast<T*>(data), *end = x + count; x != end; ++x)
      *x = Real<T>(*x) / static_cast<Real<T>>(ranks);
  });
}

}  // namespace ebb::distributed::mpi
