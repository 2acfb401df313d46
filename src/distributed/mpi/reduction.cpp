// reduce: the reduction of arrays of any dtype.
#include "distributed/mpi/reduction.h"

#include <ebb/core/visit.h>

namespace ebb::distributed::mpi {
namespace {

template <class T>
using Real = std::conditional_t<sizeof(T) == 2 && std::is_class_v<T>, float, T>;

}  // namespace

void reduce(void* arrays, int ranks, DType dtype, ReduceOp op, std::int64_t count) {
  visit_all(dtype, "all_reduce", [&]<class T> {
    T* const a = static_cast<T*>(arrays);
    const auto combine = [&](auto f) {
      for (const T* b = a + count; b != a + ranks * count; b += count)
        for (std::int64_t i = 0; i < count; ++i) a[i] = static_cast<T>(f(Real<T>(a[i]), Real<T>(b[i])));
    };
    switch (op) {
      case ReduceOp::SUM:
      case ReduceOp::AVG:
        return combine([](auto x, auto y) { return x + y; });
      case ReduceOp::PRODUCT:
        return combine([](auto x, auto y) { return x * y; });
      case ReduceOp::MIN:
        return combine([](auto x, auto y) { return x < y || x != x ? x : y; });
      case ReduceOp::MAX:
        return combine([](auto x, auto y) { return x > y || x != x ? x : y; });
    }
  });
  if (op != ReduceOp::AVG) return;
  visit_floating(dtype, "all_reduce", [&]<class T> {
    T* const a = static_cast<T*>(arrays);
    for (std::int64_t i = 0; i < count; ++i)
      a[i] = static_cast<T>(Real<T>(a[i]) / static_cast<Real<T>>(ranks));
  });
}

}  // namespace ebb::distributed::mpi
