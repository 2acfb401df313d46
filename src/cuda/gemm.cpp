// Matrix products, including operands that the library does not support directly.
#include "kernel/cuda/gemm.h"

#include <ebb/core/error.h>
#include <ebb/core/ndarray.h>

#include "ops/common/kernels.h"

namespace ebb::cuda {
namespace {

struct Matrices {
  Device device;
  DType dtype;
  std::int64_t batch;

  NdArray array_of(const BatchedMatrix& m) const {
    return NdArray(Storage::adopt(m.data, 0, device, nullptr, nullptr), {batch, m.rows, m.columns},
                   {m.batch_stride, m.row_stride, m.column_stride}, 0, dtype);
  }
  NdArray empty(const BatchedMatrix& m) const {
    return NdArray::empty({batch, m.rows, m.columns}, dtype, device);
  }
  NdArray copy_of(const BatchedMatrix& m) const {
    NdArray made = empty(m);
    kernels::copy(device, made, array_of(m));
    return made;
  }
};

BatchedMatrix matrix_of(const NdArray& x) {
  const IntArrayRef sizes = x.sizes();
  return {x.address(), sizes[1], sizes[2], sizes[2], 1, sizes[1] * sizes[2]};
}

}  // namespace

void gemm(Device device, DType dtype, std::int64_t batch, const BatchedMatrix& a, const BatchedMatrix& b,
          const BatchedMatrix& c, double alpha, double beta) {
  if (library_gemm(device, dtype, batch, a, b, c, alpha, beta)) [[likely]]
    return;
  // The library declines operands whose address is not a multiple of 4 bytes, for example in a view of 16-bit
  // elements. Multiplies aligned copies instead.
  const Matrices all{device, dtype, batch};
  const NdArray x = all.copy_of(a), y = all.copy_of(b), z = beta != 0 ? all.copy_of(c) : all.empty(c);
  EBB_CHECK(library_gemm(device, dtype, batch, matrix_of(x), matrix_of(y), matrix_of(z), alpha, beta),
            "matmul: cuBLASLt has no algorithm for a product of ", c.rows, " x ", a.columns, " and ",
            a.columns, " x ", c.columns, " in ", dtype, ".");
  NdArray out = all.array_of(c);
  kernels::copy(device, out, z);
}

}  // namespace ebb::cuda
