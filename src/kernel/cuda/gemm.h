// Matrix products in floating dtypes: cuBLASLt's on a GPU, the CPU's in the emulation.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb::cuda {

/// Matrices of a batch; strides in elements. One of the two inner strides is 1 (or its dimension has size 1).
struct BatchedMatrix {
  void* data = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_stride = 0, column_stride = 0, batch_stride = 0;

  bool is_plain() const {
    return (column_stride == 1 && row_stride >= columns) || (row_stride == 1 && column_stride >= rows);
  }
};

/// c = alpha a b + beta c for every matrix of the batch; 16-bit floats are summed in float, float in float
/// (TF32 where cuda::is_tf32_allowed()). c's columns are contiguous.
void gemm(Device device, DType dtype, std::int64_t batch, const BatchedMatrix& a, const BatchedMatrix& b,
          const BatchedMatrix& c, double alpha, double beta);

/// c = a b + bias for one matrix, bias (a contiguous value a column) added while c is written. Returns false,
/// and has done nothing, where the library cannot.
bool gemm_bias(Device device, DType dtype, const BatchedMatrix& a, const BatchedMatrix& b,
               const BatchedMatrix& c, const void* bias);

}  // namespace ebb::cuda
