// The QR decomposition, by Eigen.
#include <Eigen/QR>

#include "nn/qr.h"

namespace ebb::nn {

void orthonormal_columns(double* matrix, std::int64_t rows, std::int64_t columns) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Matrix> a(matrix, rows, columns);
  const Eigen::HouseholderQR<Matrix> qr(a);
  a = qr.householderQ() * Matrix::Identity(rows, columns);
  for (Eigen::Index c = 0; c < columns; ++c)
    if (qr.matrixQR()(c, c) < 0) a.col(c) = -a.col(c);
}

}  // namespace ebb::nn
