// Matrix products of floating dtypes. cuBLASLt computes them on a GPU, and the CPU in the emulation.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb::cuda {

/// A batch of matrices; strides are in elements. One of the two inner strides is 1 (or its dimension has size
/// 1).
struct BatchedMatrix {
  void* data = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_stride = 0, column_stride = 0, batch_stride = 0;

  bool is_plain() const {
    return (column_stride == 1 && row_stride >= columns) || (row_stride == 1 && column_stride >= rows);
  }
};

/// c = alpha a b + beta c for each matrix of the batch. 16-bit floats and float are summed in float (in TF32
/// for float if cuda::is_tf32_allowed()). The columns of c are contiguous. Operands may have any alignment;
/// if the library does not support an operand's alignment, the operand is copied.
void gemm(Device device, DType dtype, std::int64_t batch, const BatchedMatrix& a, const BatchedMatrix& b,
          const BatchedMatrix& c, double alpha, double beta);

/// Computes gemm() only with the library. Returns false without any effect if the library has no algorithm.
bool library_gemm(Device device, DType dtype, std::int64_t batch, const BatchedMatrix& a,
                  const BatchedMatrix& b, const BatchedMatrix& c, double alpha, double beta);

/// The GEMM epilogue: bias and activation.
struct GemmEpilogue {
  enum class Activation : std::uint8_t { none, relu, gelu_tanh };

  const void* bias = nullptr;  // one value per column, contiguous
  Activation activation = Activation::none;
  /// Only with gelu_tanh: the argument of the activation is written to this matrix, unless its data is null.
  /// Its data is aligned to 16 bytes, and its row stride is a multiple of 8 elements.
  BatchedMatrix before = {};
};

/// c = activation(a b + bias) for one matrix. Returns false without any effect if the library does not
/// support this product.
bool gemm_epilogue(Device device, DType dtype, const BatchedMatrix& a, const BatchedMatrix& b,
                   const BatchedMatrix& c, const GemmEpilogue& epilogue);

}  // namespace ebb::cuda
