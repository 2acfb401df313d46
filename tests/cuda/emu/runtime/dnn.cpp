// Stands in for cuDNN: convolutions, attention, batch normalisation.
#include "cuda/emu/runtime/dnn.h"

#include <ebb/core/visit.h>
#include <ebb/cuda/cuda.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "ops/attention/kernels.h"
#include "ops/conv/kernels.h"
#include "ops/norm/kernels.h"

// Stands in for cuDNN's convolutions.

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

// Stands in for cuDNN's attention.

namespace {

using emu::on_cpu;

// The call on the CPU, of memory that an action of a stream may touch.
ops::AttentionSaved on_cpu(const DnnAttention& a) {
  ops::AttentionSaved call{on_cpu(a.query),  on_cpu(a.key),     on_cpu(a.value),
                           on_cpu(a.result), on_cpu(a.log_sum), {}};
  call.rule.scale = a.scale;
  call.rule.causal = a.causal;
  return call;
}

// What the library asks of its arrays.
bool is_taken(const DnnAttention& a) {
  const auto fits = [](const NdArray& x) {
    const IntArrayRef strides = x.strides();
    return reinterpret_cast<std::uintptr_t>(x.data()) % 16 == 0 && x.sizes()[3] % 8 == 0 &&
           x.sizes()[3] <= 256 && strides[3] == 1 &&
           std::ranges::all_of(strides.slice(0, 3), [](auto s) { return s > 0; });
  };
  return fits(a.query) && fits(a.key) && fits(a.value);
}

void spoil(const NdArray& x) {
  std::fill_n(x.address_as<float>(), x.numel(), std::numeric_limits<float>::quiet_NaN());
}

// The library sums the gradient of the queries in `sum`, over whatever that holds before.
void add_to(const NdArray& out, const NdArray& sum) {
  visit_floating(out.dtype(), "attention", [&]<class T> {
    T* const to = out.address_as<T>();
    const float* const from = sum.address_as<float>();
    for (std::int64_t i = 0; i < out.numel(); ++i)
      to[i] = static_cast<T>(static_cast<float>(to[i]) + from[i]);
  });
}

}  // namespace

bool dnn_attention(const DnnAttention& a) {
  if (!dnn_is_used() || !is_taken(a)) return false;
  const DeviceScope scope(a.query.device());
  emu::enqueue(current_stream(a.query.device()),
               [call = on_cpu(a)]() mutable { kernels::attention(Device(kCPU), call); });
  return true;
}

bool dnn_attention_backward(const DnnAttentionBackward& b) {
  if (!dnn_is_used() || !is_taken(b.forward)) return false;
  EBB_CHECK(reinterpret_cast<std::uintptr_t>(b.grad.address()) % 16 == 0,
            "attention: a library was given a gradient that does not begin at 16 bytes.");
  const DeviceScope scope(b.grad.device());
  emu::enqueue(
      current_stream(b.grad.device()),
      [call = on_cpu(b.forward), grad = on_cpu(b.grad), query = on_cpu(b.dquery), key = on_cpu(b.dkey),
       value = on_cpu(b.dvalue), sum = on_cpu(b.query_sum), delta = on_cpu(b.delta)] {
        ops::AttentionGrads out{query, key, value};
        kernels::attention_backward(Device(kCPU), out, grad, call);
        add_to(query, sum);
        spoil(sum);
        spoil(delta);
      });
  return true;
}

// Stands in for cuDNN's batch normalisation.

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
