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
/// (TF32 where cuda::is_tf32_allowed()). c's columns are contiguous. Operands may begin anywhere: those for
/// which the library has no algorithm as they lie are copied.
void gemm(Device device, DType dtype, std::int64_t batch, const BatchedMatrix& a, const BatchedMatrix& b,
          const BatchedMatrix& c, double alpha, double beta);

/// The same by the library alone. Returns false, and has done nothing, where that has no algorithm.
bool library_gemm(Device device, DType dtype, std::int64_t batch, const BatchedMatrix& a,
                  const BatchedMatrix& b, const BatchedMatrix& c, double alpha, double beta);

/// What is done to a product while it is written.
struct GemmEpilogue {
  enum class Activation : std::uint8_t { none, relu, gelu_tanh };

  const void* bias = nullptr;  // added: a contiguous value a column
  Activation activation = Activation::none;
  /// With gelu_tanh: where its argument is written as well; none where data is null. Starts at 16 bytes, rows
  /// lie a multiple of 8 elements apart.
  BatchedMatrix before = {};
};

/// c = activation(a b + bias) for one matrix. Returns false, and has done nothing, where the library cannot.
bool gemm_epilogue(Device device, DType dtype, const BatchedMatrix& a, const BatchedMatrix& b,
                   const BatchedMatrix& c, const GemmEpilogue& epilogue);

}  // namespace ebb::cuda
