// Stands in for cuDNN's convolutions.
#include "cuda/emu/runtime/dnn.h"

#include <ebb/cuda/cuda.h>

#include <cstdlib>

#include "ops/conv/kernels.h"

namespace ebb::cuda {
namespace {

using emu::on_cpu;
using emu::plain;

ConvGeometry geometry_of(const DnnConvolution& c) {
  ConvGeometry g;
  g.batch = c.in.sizes()[0];
  g.in_channels = c.in.sizes()[1];
  g.out_channels = c.out.sizes()[1];
  g.groups = g.in_channels / c.weight.sizes()[1];
  const std::size_t axes = c.stride.size();
  for (std::size_t a = 0; a < axes; ++a) {
    const std::size_t to = 3 - axes + a;
    g.in[to] = c.in.sizes()[2 + a];
    g.out[to] = c.out.sizes()[2 + a];
    g.kernel[to] = c.weight.sizes()[2 + a];
    g.stride[to] = c.stride[a];
    g.padding[to] = c.padding[a];
    g.dilation[to] = c.dilation[a];
  }
  return g;
}

// Arrays that the library reads begin as allocations do, and none is larger than it counts.
void check_given(const DnnConvolution& c) {
  const NdArray& written = c.kind == DnnConv::forward ? c.out : c.kind == DnnConv::input ? c.in : c.weight;
  for (const NdArray* x : {&c.in, &c.weight, &c.out, c.bias ? c.bias : &c.in}) {
    EBB_CHECK(x == &written || reinterpret_cast<std::uintptr_t>(x->address()) % 16 == 0,
              "convolution: a library was given an array of shape ", x->sizes(),
              " that does not begin at 16 bytes.");
    EBB_CHECK(x->numel() <= dnn_most_elements(), "convolution: a library was given an array of shape ",
              x->sizes(), ", of more than ", dnn_most_elements(), " elements.");
  }
}

}  // namespace

bool dnn_is_there() { return !is_dnn_forbidden() && std::getenv("EBB_EMU_DNN"); }
bool dnn_is_used() { return is_cudnn_enabled() && dnn_is_there(); }

// Fewer than a test has to spare.
std::int64_t dnn_most_elements() { return std::int64_t{1} << 14; }

bool dnn_convolve(const DnnConvolution& c) {
  // A bias on contiguous arrays is refused, so that callers add it themselves.
  if (!dnn_is_used() || (c.bias && c.in.is_contiguous())) return false;
  check_given(c);
  const NdArray in = on_cpu(c.in), weight = on_cpu(c.weight), out = on_cpu(c.out),
                bias = c.bias ? on_cpu(*c.bias) : NdArray();
  const DeviceScope scope(c.in.device());
  emu::enqueue(current_stream(c.in.device()),
               [=, kind = c.kind, g = geometry_of(c), relu = c.relu, cpu = Device(kCPU)] {
                 NdArray x = plain(in), w = plain(weight), y = plain(out);
                 const NdArray b = bias.defined() ? plain(bias) : NdArray();
                 NdArray result = kind == DnnConv::forward ? out : kind == DnnConv::input ? in : weight;
                 if (kind == DnnConv::forward)
                   kernels::conv_forward(cpu, y, x, w, b, g, relu);
                 else if (kind == DnnConv::input)
                   kernels::conv_input(cpu, x, y, w, b, g);
                 else
                   kernels::conv_weight(cpu, w, y, x, g);
                 kernels::copy(cpu, result, kind == DnnConv::forward ? y : kind == DnnConv::input ? x : w);
               });
  return true;
}

}  // namespace ebb::cuda
