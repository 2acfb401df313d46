// LDL factorisations on the CPU.
#include <ebb/core/visit.h>

#include "ops/linalg/cpu_batch.h"
#include "ops/linalg/decomposition_kernels.h"
#include "ops/linalg/ldl_steps.h"

namespace ebb::cpu {
namespace {

struct Alone {
  static std::int64_t rank() { return 0; }
  static std::int64_t size() { return 1; }
  static void sync() {}
};

}  // namespace

void ldl(NdArray& a, NdArray& pivots, NdArray& info) {
  visit_float_double(a.dtype(), "linalg.ldl_factor", [&]<class T> {
    const Batch<T> x(a);
    const std::int64_t n = x.rows;
    for_matrices(x.count, n * n * n, [&](std::int64_t i) {
      info.address_as<std::int32_t>()[i] = decomposition::ldl_factor(
          x.data + i * n * n, pivots.address_as<std::int32_t>() + i * n, n, Alone());
    });
  });
}

void ldl_solve(NdArray& x, const NdArray& a, const NdArray& pivots) {
  visit_float_double(x.dtype(), "linalg.ldl_solve", [&]<class T> {
    const Batch<T> right(x), left(a);
    const std::int64_t n = left.rows;
    for_matrices(right.count, n * n * right.cols, [&](std::int64_t i) {
      for (std::int64_t j = 0; j < right.cols; ++j)
        decomposition::ldl_solve_column<T>(left.data + i * n * n, pivots.address_as<std::int32_t>() + i * n,
                                           n, right.data + i * n * right.cols + j, right.cols);
    });
  });
}

}  // namespace ebb::cpu
