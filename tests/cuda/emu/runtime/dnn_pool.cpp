// Stands in for cuDNN's poolings.
#include "cuda/emu/runtime/dnn.h"
#include "ops/pool/kernels.h"

namespace ebb::cuda {
namespace {

using emu::on_cpu;
using emu::plain;

PoolGeometry geometry_of(const DnnPooling& p) {
  PoolGeometry g;
  g.planes = p.in.sizes()[0] * p.in.sizes()[1];
  g.include_padding = p.kind == DnnPool::mean;
  if (p.kind == DnnPool::mean) {  // cuDNN divides by the window's size, whatever lies beyond the padding
    g.divisor = 1;
    for (const std::int64_t size : p.window) g.divisor *= size;
  }
  const std::size_t axes = p.window.size();
  for (std::size_t a = 0; a < axes; ++a)
    g.axis[3 - axes + a] = {.in = p.in.sizes()[2 + a],
                            .out = p.out.sizes()[2 + a],
                            .kernel = p.window[a],
                            .stride = p.stride[a],
                            .padding = p.padding[a]};
  return g;
}

}  // namespace

bool dnn_pool(const DnnPooling& p) {
  if (!dnn_is_used()) return false;
  // What cuDNN has no plan for on sm_90, or none that is exact.
  const bool channels_last = !(p.in.is_contiguous() && p.out.is_contiguous());
  const bool is_simple = !p.transposed && p.window.size() == 2;
  if (channels_last && (p.in.dtype() == kDouble || (p.in.dtype() == kFloat && !is_simple))) return false;
  const DeviceScope scope(p.in.device());
  emu::enqueue(current_stream(p.in.device()), [in = on_cpu(p.in), out = on_cpu(p.out), g = geometry_of(p),
                                               kind = p.kind, transposed = p.transposed] {
    const Device cpu(kCPU);
    NdArray x = plain(in), y = plain(out), none;
    if (kind == DnnPool::max)
      kernels::max_pool(cpu, y, none, x, g);
    else if (transposed)
      kernels::mean_pool_backward(cpu, x, y, g);
    else
      kernels::mean_pool(cpu, y, x, g);
    NdArray to = transposed ? in : out;
    kernels::copy(cpu, to, transposed ? x : y);
  });
  return true;
}

}  // namespace ebb::cuda
