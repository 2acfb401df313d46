// Emulated cuDNN: convolutions, attention, batch norm, recurrent layers.
#include "kernel/cuda/dnn.h"

#include <ebb/core/visit.h>
#include <ebb/cuda/cuda.h>

#include "core/capture.h"
#include "cuda/emu/runtime/api.h"
#include "kernel/cuda/device.h"
#include "ops/attention/kernels.h"
#include "ops/common/kernels.h"
#include "ops/conv/kernels.h"
#include "ops/linalg/kernels.h"
#include "ops/norm/kernels.h"
#include "ops/rnn/kernels.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

// Shared helpers of the emulated cuDNN. With EBB_EMU_DNN set it computes with CPU kernels, to test the calls
// of the library. Without, it has no algorithm for any call, so that ebb's own kernels are tested.

namespace ebb::emu {

/// Device memory as a CPU array; it may be accessed inside an action of a stream.
inline NdArray on_cpu(const NdArray& x) {
  return NdArray(Storage::adopt(x.data(), 0, Device(kCPU), nullptr, nullptr), DimVector(x.sizes()),
                 DimVector(x.strides()), 0, x.dtype());
}

/// A contiguous copy in a dtype that the CPU kernels support.
inline NdArray plain(const NdArray& x) {
  NdArray out = NdArray::empty(x.sizes(), x.dtype() == kDouble ? kDouble : kFloat);
  kernels::copy(Device(kCPU), out, x);
  return out;
}

}  // namespace ebb::emu

// Emulated convolutions of cuDNN.

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

// Arrays for the library are aligned like allocations, and none is larger than the library supports.
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

// A small limit that tests can exceed.
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

// Emulated attention of cuDNN.

namespace {

using emu::on_cpu;

// The call with its arrays as CPU arrays, inside an action of a stream.
ops::AttentionSaved on_cpu(const DnnAttention& a) {
  ops::AttentionSaved call{on_cpu(a.query),  on_cpu(a.key),     on_cpu(a.value),
                           on_cpu(a.result), on_cpu(a.log_sum), {}};
  call.rule.scale = a.scale;
  call.rule.causal = a.causal;
  return call;
}

// Whether the arrays meet the conditions of the library.
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

// The library accumulates the gradient of the queries in `sum`, on top of its old contents.
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
               [call = on_cpu(a)]() mutable { kernels::attention_forward(Device(kCPU), call); });
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

// Emulated batch norm of cuDNN.

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

// Emulated recurrent layers of cuDNN. The parameters are stored in a special order, biases first.

namespace {

using emu::on_cpu;
using emu::plain;

constexpr int kOrder[] = {4, 3, 2, 1, 0};  // the order of w_ih, w_hh, b_ih, b_hh, w_hr in memory
constexpr Device kHere(kCPU);

// The layer and its arrays inside an action of a stream, which may access them.
struct Call {
  DnnRnn layer;
  std::vector<std::int32_t> lengths;
  DnnRnnSpaces spaces;
  NdArray rows, hidden, cell, parameters, result, kept;
};

// The library gets only addresses with the alignment of allocations.
NdArray given(const NdArray& x) {
  if (!x.defined()) return {};
  EBB_CHECK(reinterpret_cast<std::uintptr_t>(x.data()) % 16 == 0,
            "rnn: a library was given an array of shape ", x.sizes(), " that does not begin at 16 bytes.");
  return on_cpu(x);
}

Call call_of(const DnnRnn& layer, const DnnRnnArrays& a) {
  return {layer,         layer.lengths.vec(), *dnn_rnn_spaces(layer), given(a.rows), given(a.hidden),
          given(a.cell), given(a.parameters), given(a.result),        given(a.kept)};
}

ops::RnnSteps steps_of(const Call& c, std::int64_t direction) {
  ops::RnnSteps steps;
  steps.kind = static_cast<ops::RnnKind>(c.layer.cell);
  steps.reverse = direction == 1;
  for (std::int32_t t = 0; t < c.lengths[0]; ++t)
    steps.batch_sizes.push_back(std::ranges::count_if(c.lengths, [&](std::int32_t n) { return n > t; }));
  return steps;
}

DimVector sizes_of(const DnnRnn& l, int parameter) {
  ops::RnnSteps steps;
  steps.kind = static_cast<ops::RnnKind>(l.cell);
  const std::int64_t width = steps.gates() * l.hidden;
  if (parameter == 0) return {width, l.features};
  if (parameter == 1) return {width, l.projected};
  if (parameter == 4) return {l.projected, l.projected < l.hidden ? l.hidden : 0};
  return {l.biases ? width : 0};
}

// A parameter of a direction inside the memory of all parameters, or none.
NdArray parameter_of(const Call& c, const NdArray& space, std::int64_t direction, int parameter) {
  const DimVector sizes = sizes_of(c.layer, parameter);
  if (checked_numel(sizes) == 0) return {};
  const std::int64_t place = c.spaces.place[direction][parameter] / element_size(c.layer.dtype);
  return NdArray(space.storage(), sizes, contiguous_strides(sizes), place, c.layer.dtype);
}

// The states of one direction, or its columns of the rows.
NdArray state_of(const NdArray& states, std::int64_t direction) {
  if (!states.defined()) return {};
  const std::int64_t rows = states.sizes()[1], width = states.sizes()[2];
  return states.as_strided({rows, width}, {width, 1}, direction * rows * width);
}
NdArray columns_of(const Call& c, const NdArray& rows, std::int64_t direction) {
  const std::int64_t width = c.layer.projected;
  return rows.as_strided({rows.sizes()[0], width}, {c.layer.directions * width, 1}, direction * width);
}

NdArray plain_if(const NdArray& x) { return x.defined() ? plain(x) : NdArray(); }

ops::RnnState first_of(const Call& c, std::int64_t direction) {
  return {plain(state_of(c.hidden, direction)), plain_if(state_of(c.cell, direction))};
}
ops::RnnWeights weights_of(const Call& c, std::int64_t direction) {
  const auto get = [&](int i) { return plain_if(parameter_of(c, c.parameters, direction, i)); };
  return {get(1), get(2), get(3), get(4)};
}

// Gates and extra values of a direction inside the saved memory, or in a separate array if nothing is saved.
ops::RnnTrace trace_of(const Call& c, std::int64_t direction) {
  const ops::RnnSteps steps = steps_of(c, direction);
  const std::int64_t rows = c.rows.sizes()[0], gates = steps.gates() * c.layer.hidden,
                     extras = steps.extras() * c.layer.hidden;
  const DType dtype = c.layer.dtype == kDouble ? kDouble : kFloat;
  ops::RnnTrace trace;
  if (!c.kept.defined()) {
    trace.gates = NdArray::empty({rows, gates}, dtype);
    trace.extras = NdArray::empty({rows, extras}, dtype);
  } else {
    const std::int64_t first = direction * rows * (gates + extras);
    trace.gates = NdArray(c.kept.storage(), {rows, gates}, {gates, 1}, first, dtype);
    trace.extras = NdArray(c.kept.storage(), {rows, extras}, {std::max<std::int64_t>(extras, 1), 1},
                           first + rows * gates, dtype);
  }
  trace.result = plain(columns_of(c, c.result, direction));
  return trace;
}

void set(NdArray to, const NdArray& from) { kernels::copy(kHere, to, from); }

// to += x in the dtype of the parameters; does nothing if there is no such parameter.
void add(NdArray to, const NdArray& x) {
  if (!to.defined()) return;
  NdArray sum = plain(to);
  kernels::accumulate(kHere, sum, x);
  set(to, sum);
}

// a^T b, and the sum of rows as a product with ones.
NdArray transposed_product(const NdArray& a, const NdArray& b) {
  NdArray out = NdArray::empty({a.sizes()[1], b.sizes()[1]}, a.dtype());
  kernels::product(kHere, out, {}, a, b, {.a_transposed = true});
  return out;
}
NdArray sum_of_rows(const NdArray& x) {
  NdArray ones = NdArray::empty({x.sizes()[0], 1}, x.dtype());
  kernels::fill(kHere, ones, 1);
  return transposed_product(x, ones).as_strided({x.sizes()[1]}, {1}, 0);
}

void forward(const Call& c, std::int64_t d, const NdArray& last_hidden, const NdArray& last_cell) {
  const ops::RnnState first = first_of(c, d);
  ops::RnnTrace trace = trace_of(c, d);
  trace.last = {NdArray::empty(first.hidden.sizes(), first.hidden.dtype()),
                first.cell.defined() ? NdArray::empty(first.cell.sizes(), first.cell.dtype()) : NdArray()};
  kernels::product(kHere, trace.gates, {}, plain(c.rows), plain(parameter_of(c, c.parameters, d, 0)),
                   {.b_transposed = true});
  kernels::rnn_forward(kHere, trace, first, weights_of(c, d), steps_of(c, d));
  set(columns_of(c, c.result, d), trace.result);
  set(state_of(last_hidden, d), trace.last.hidden);
  if (last_cell.defined()) set(state_of(last_cell, d), trace.last.cell);
}

// The input of an LSTM projection: the output gate times tanh of the cell.
NdArray before_projection(const ops::RnnTrace& trace, std::int64_t size) {
  const std::int64_t rows = trace.gates.sizes()[0];
  NdArray out = NdArray::empty({rows, size}, trace.gates.dtype());
  visit_float_double(out.dtype(), "rnn_backward", [&]<class T> {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < size; ++j)
        out.address_as<T>()[i * size + j] = trace.gates.address_as<T>()[(i * 4 + 3) * size + j] *
                                            trace.extras.address_as<T>()[(i * 2 + 1) * size + j];
  });
  return out;
}

struct Grads {
  NdArray result, last_hidden, last_cell, drows, dhidden, dcell, dparameters;
};

void backward(const Call& c, std::int64_t d, const Grads& g, NdArray& drows) {
  const ops::RnnState first = first_of(c, d);
  const ops::RnnTrace trace = trace_of(c, d);
  const auto like = [](const NdArray& x) { return NdArray::empty(x.sizes(), x.dtype()); };
  const ops::RnnWeights weights = weights_of(c, d);
  ops::RnnGateGrads s;
  s.input = like(trace.gates);
  s.hidden = c.layer.cell == DnnCell::gru ? like(trace.gates) : s.input;
  s.previous = like(trace.result);
  if (weights.projection.defined()) s.projected = like(trace.result);
  s.first = {like(first.hidden), first.cell.defined() ? like(first.cell) : NdArray()};
  kernels::rnn_backward(kHere, s, plain(columns_of(c, g.result, d)),
                        {plain(state_of(g.last_hidden, d)), plain_if(state_of(g.last_cell, d))}, trace, first,
                        weights, steps_of(c, d));
  kernels::product(kHere, drows, d == 0 ? NdArray() : drows, s.input,
                   plain(parameter_of(c, c.parameters, d, 0)), {.beta = 1});
  set(state_of(g.dhidden, d), s.first.hidden);
  if (g.dcell.defined()) set(state_of(g.dcell, d), s.first.cell);
  if (!g.dparameters.defined()) return;
  const auto slope = [&](int i) { return parameter_of(c, g.dparameters, d, i); };
  add(slope(0), transposed_product(s.input, plain(c.rows)));
  add(slope(1), transposed_product(s.hidden, s.previous));
  add(slope(2), sum_of_rows(s.input));
  add(slope(3), sum_of_rows(s.hidden));
  if (s.projected.defined())
    add(slope(4), transposed_product(s.projected, before_projection(trace, c.layer.hidden)));
}

}  // namespace

std::optional<DnnRnnSpaces> dnn_rnn_spaces(const DnnRnn& l) {
  if (!dnn_is_used() || (ebb::detail::current_capture() && !l.is_even())) return {};
  DnnRnnSpaces spaces;
  for (std::int64_t d = 0; d < l.directions; ++d)
    for (const int i : kOrder) {
      spaces.place[d][i] = spaces.parameters;
      spaces.parameters += checked_numel(sizes_of(l, i)) * element_size(l.dtype);
    }
  if (!l.training) return spaces;
  ops::RnnSteps steps;
  steps.kind = static_cast<ops::RnnKind>(l.cell);
  std::int64_t rows = 0;
  for (const std::int32_t n : l.lengths) rows += n;
  spaces.kept = l.directions * rows * (steps.gates() + steps.extras()) * l.hidden *
                element_size(l.dtype == kDouble ? kDouble : kFloat);
  return spaces;
}

bool dnn_rnn(const DnnRnn& layer, const DnnRnnArrays& arrays, const NdArray& last_hidden,
             const NdArray& last_cell) {
  const DeviceScope scope(layer.device);
  emu::enqueue(current_stream(layer.device),
               [call = call_of(layer, arrays), hidden = given(last_hidden), cell = given(last_cell)] {
                 for (std::int64_t d = 0; d < call.layer.directions; ++d) forward(call, d, hidden, cell);
               });
  return true;
}

bool dnn_rnn_backward(const DnnRnn& layer, const DnnRnnArrays& arrays, const DnnRnnGrads& g) {
  const DeviceScope scope(layer.device);
  emu::enqueue(current_stream(layer.device),
               [call = call_of(layer, arrays),
                grads = Grads{given(g.result), given(g.last_hidden), given(g.last_cell), given(g.drows),
                              given(g.dhidden), given(g.dcell), given(g.dparameters)}] {
                 NdArray drows = plain(grads.drows);
                 for (std::int64_t d = 0; d < call.layer.directions; ++d) backward(call, d, grads, drows);
                 set(grads.drows, drows);
                 std::fill_n(call.kept.address_as<unsigned char>(), call.kept.numel(), 0xff);  // NaN
               });
  return true;
}

}  // namespace ebb::cuda
