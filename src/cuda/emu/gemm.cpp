// Matrix products of the emulation, on the CPU.
#include "kernel/cuda/gemm.h"

#include <ebb/core/ndarray.h>

#include "cuda/emu/api.h"
#include "kernel/cuda/device.h"
#include "ops/linalg/kernels.h"

namespace ebb::cuda {
namespace {

// Device memory as an array of the CPU: inside an action of a stream it may be touched.
NdArray on_cpu(const BatchedMatrix& m, std::int64_t batch, DType dtype) {
  return NdArray(Storage::adopt(m.data, 0, Device(kCPU), nullptr, nullptr), {batch, m.rows, m.columns},
                 {m.batch_stride, m.row_stride, m.column_stride}, 0, dtype);
}

}  // namespace

void gemm(Device device, DType dtype, std::int64_t batch, const BatchedMatrix& a, const BatchedMatrix& b,
          const BatchedMatrix& c, double alpha, double beta) {
  EBB_CHECK(batch > 0 && c.rows > 0 && c.columns > 0 && a.columns > 0 && a.is_plain() && b.is_plain(),
            "matmul: cuBLASLt takes no product of ", c.rows, " x ", a.columns, " and ", a.columns, " x ",
            c.columns, ".");
  const DeviceScope scope(device);
  emu::enqueue(current_stream(device), [=] {
    NdArray out = on_cpu(c, batch, dtype);
    ProductArgs args;
    args.alpha = alpha;
    args.beta = beta;
    kernels::product(Device(kCPU), out, beta != 0 ? out : NdArray(), on_cpu(a, batch, dtype),
                     on_cpu(b, batch, dtype), args);
  });
}

bool gemm_bias(Device device, DType dtype, const BatchedMatrix& a, const BatchedMatrix& b,
               const BatchedMatrix& c, const void* bias) {
  if (dtype == kDouble) return false;  // as cuBLASLt
  BatchedMatrix row{const_cast<void*>(bias), c.rows, c.columns, 0, 1, 0};
  const DeviceScope scope(device);
  emu::enqueue(current_stream(device), [=] {
    NdArray out = on_cpu(c, 1, dtype);
    ProductArgs args;
    args.beta = 1;
    kernels::product(Device(kCPU), out, on_cpu(row, 1, dtype), on_cpu(a, 1, dtype), on_cpu(b, 1, dtype),
                     args);
  });
  return true;
}

}  // namespace ebb::cuda
