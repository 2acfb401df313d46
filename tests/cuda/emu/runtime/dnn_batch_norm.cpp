// Stands in for cuDNN's batch normalisation.
#include "cuda/emu/runtime/dnn.h"
#include "ops/norm/kernels.h"

namespace ebb::cuda {
namespace {

using emu::on_cpu;
using emu::plain;

kernels::NormShape shape_of(const NdArray& x) {
  const std::int64_t rows = x.sizes()[0], channels = x.sizes()[1];
  return {rows, channels, x.numel() / (rows * channels)};
}

}  // namespace

bool dnn_batch_norm(const DnnBatchNorm& n) {
  if (!dnn_is_used() || n.in.dtype() == kDouble || n.in.numel() == 0) return false;
  const DeviceScope scope(n.in.device());
  emu::enqueue(current_stream(n.in.device()), [in = on_cpu(n.in), out = on_cpu(n.out), mean = on_cpu(n.mean),
                                               rstd = on_cpu(n.rstd), weight = on_cpu(n.weight),
                                               bias = on_cpu(n.bias), eps = n.eps] {
    const Device cpu(kCPU);
    NdArray y = plain(out), to = out;
    kernels::BatchStatistics stats{mean, {}, rstd};
    kernels::batch_norm_train(cpu, y, stats, plain(in), weight, bias, shape_of(in), static_cast<double>(eps));
    kernels::copy(cpu, to, y);
  });
  return true;
}

bool dnn_batch_norm_backward(const DnnBatchNormBackward& n) {
  if (!dnn_is_used() || n.in.dtype() == kDouble || n.in.numel() == 0) return false;
  const DeviceScope scope(n.in.device());
  emu::enqueue(
      current_stream(n.in.device()),
      [in = on_cpu(n.in), dout = on_cpu(n.dout), mean = on_cpu(n.mean), rstd = on_cpu(n.rstd),
       weight = on_cpu(n.weight), din = on_cpu(n.din), dweight = on_cpu(n.dweight), dbias = on_cpu(n.dbias)] {
        const Device cpu(kCPU);
        kernels::NormGrads grads{plain(din), dweight, dbias};
        kernels::batch_norm_backward(cpu, grads, plain(dout), {plain(in), mean, rstd, weight}, shape_of(in),
                                     true);
        NdArray to = din;
        kernels::copy(cpu, to, grads.dx);
      });
  return true;
}

}  // namespace ebb::cuda
