// Eigenvalues of symmetric matrices on the CPU, with Eigen's tridiagonal QR iteration.
#include <ebb/core/visit.h>

#include "ops/linalg/cpu_batch.h"
#include "ops/linalg/decomposition_kernels.h"

#include <Eigen/Eigenvalues>

#include <cmath>
#include <limits>

namespace ebb::cpu {
namespace {

template <class T>
std::int32_t diagonalize(T* a, T* values, std::int64_t n) {
  using Square = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Rows> x(a, n, n);
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> out(values, n);
  bool found = std::all_of(a, a + n * n, [](T v) { return std::isfinite(v); });
  if (found) {
    const Eigen::SelfAdjointEigenSolver<Square> solver(Eigen::Map<const Square>(a, n, n));
    found = solver.info() == Eigen::Success;
    out = solver.eigenvalues();
    x = solver.eigenvectors();
  }
  if (found) return 0;
  x.setConstant(std::numeric_limits<T>::quiet_NaN());
  out.setConstant(std::numeric_limits<T>::quiet_NaN());
  return static_cast<std::int32_t>(n);
}

}  // namespace

void eigh(NdArray& a, NdArray& values, NdArray& info) {
  visit_float_double(a.dtype(), "linalg.eigh", [&]<class T> {
    const Batch<T> x(a);
    const std::int64_t n = x.rows;
    if (n == 0) return;
    for_matrices(x.count, 10 * n * n * n, [&](std::int64_t i) {
      info.address_as<std::int32_t>()[i] =
          diagonalize<T>(x.data + i * n * n, values.address_as<T>() + i * n, n);
    });
  });
}

}  // namespace ebb::cpu
