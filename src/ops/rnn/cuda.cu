// Recurrent layers on a GPU. A step of the forward pass runs a library's matrix product and one kernel for
// all gates. The backward pass processes the steps in reverse. The gradients of the weights are computed
// afterwards, as products over all steps.
#include <ebb/core/visit.h>

#include "kernel/call/arguments.h"
#include "kernel/convert.h"
#include "kernel/cuda/gemm.h"
#include "kernel/cuda/walk.h"
#include "ops/common/kernels.h"
#include "ops/rnn/kernels.h"
#include "ops/rnn/math.h"

namespace ebb::cuda {
namespace recurring {
namespace {

using ops::RnnKind;
using ops::RnnSteps;

/// Computes out = left weight, or left weight^T if `transposed`. With beta = 0 it overwrites out, with beta =
/// 1 it adds to out. `left` and `out` point to `rows` rows of contiguous matrices.
template <class T>
void product(Device device, std::int64_t rows, T* left, const NdArray& weight, bool transposed, T* out,
             double beta) {
  const std::int64_t height = weight.sizes()[0], width = weight.sizes()[1];
  const std::int64_t depth = transposed ? width : height, columns = transposed ? height : width;
  const BatchedMatrix a{left, rows, depth, depth, 1, 0}, c{out, rows, columns, columns, 1, 0};
  const BatchedMatrix b = transposed ? BatchedMatrix{weight.address(), depth, columns, 1, depth, 0}
                                     : BatchedMatrix{weight.address(), depth, columns, columns, 1, 0};
  gemm(device, weight.dtype(), 1, a, b, c, 1, beta);
}

/// Copies `from` to `to`, or fills with zeros if `from` is undefined.
void start(Device device, NdArray& to, const NdArray& from) {
  if (from.defined())
    kernels::copy(device, to, from);
  else
    kernels::fill(device, to, 0);
}

/// Returns an array for temporary data of the pass.
NdArray scratch(const NdArray& like, std::int64_t rows, std::int64_t width) {
  return NdArray::empty({rows, width}, like.dtype(), like.device());
}

/// Computes one unit of a row of the step. `gates`, `extras`, `result` and `sums` point to the first row of
/// the step. `result` may be null.
template <class T, RnnKind kKind>
struct ForwardStep {
  T *gates, *extras, *result;
  const T *sums, *input_bias, *hidden_bias;
  // (batch, size). `cell` contains the previous cell and receives the next one. `hidden` receives the output,
  // before any projection; a GRU first reads the previous hidden state from it.
  T *hidden, *cell;
  std::int64_t size;

  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    constexpr int kGates = kKind == RnnKind::lstm ? 4 : kKind == RnnKind::gru ? 3 : 1;
    const std::int64_t row = i / size, j = i % size, first = row * kGates * size + j;
    C input[kGates], recurrent[kGates];
    for (int k = 0; k < kGates; ++k) {
      const std::int64_t at = first + k * size;
      input[k] = static_cast<C>(gates[at]);
      recurrent[k] = static_cast<C>(sums[at]);
      if (input_bias == nullptr) continue;
      input[k] += static_cast<C>(input_bias[k * size + j]);
      recurrent[k] += static_cast<C>(hidden_bias[k * size + j]);
    }
    const auto keep = [&](int k, C x) { gates[first + k * size] = static_cast<T>(x); };
    C y;
    if constexpr (kKind == RnnKind::lstm) {
      const auto u =
          ops::LstmUnit<C>::of(input[0] + recurrent[0], input[1] + recurrent[1], input[2] + recurrent[2],
                               input[3] + recurrent[3], static_cast<C>(cell[i]));
      keep(0, u.input);
      keep(1, u.forget);
      keep(2, u.candidate);
      keep(3, u.output);
      extras[row * 2 * size + j] = static_cast<T>(u.cell);
      extras[row * 2 * size + size + j] = static_cast<T>(u.squashed);
      cell[i] = static_cast<T>(u.cell);
      y = u.hidden();
    } else if constexpr (kKind == RnnKind::gru) {
      const auto u =
          ops::GruUnit<C>::of(input[0] + recurrent[0], input[1] + recurrent[1], input[2], recurrent[2]);
      keep(0, u.reset);
      keep(1, u.update);
      keep(2, u.fresh);
      extras[i] = static_cast<T>(u.hidden_part);
      y = u.hidden(static_cast<C>(hidden[i]));
    } else {
      using U = std::conditional_t<kKind == RnnKind::tanh, ops::TanhUnit, ops::ReluUnit>;
      y = U::value(input[0] + recurrent[0]);
      keep(0, y);
    }
    hidden[i] = static_cast<T>(y);
    if (result != nullptr) result[i] = static_cast<T>(y);
  }
};

template <class T>
struct CopyRows {
  T* to;
  const T* from;
  __device__ void operator()(std::int64_t i) const { to[i] = from[i]; }
};

template <class T, RnnKind kKind>
void forward(ops::RnnTrace& out, const ops::RnnState& first, const ops::RnnWeights& weights,
             const RnnSteps& steps) {
  const Device device = out.gates.device();
  const std::int64_t projected = out.result.sizes()[1], width = out.gates.sizes()[1],
                     size = width / steps.gates(), extras = steps.extras() * size;
  const bool projects = weights.projection.defined();
  kernels::copy(device, out.last.hidden, first.hidden);
  if (kKind == RnnKind::lstm) kernels::copy(device, out.last.cell, first.cell);
  const NdArray sums = scratch(out.gates, steps.batch(), width),
                units = scratch(out.gates, projects ? steps.batch() : 0, size);
  const DimVector offsets = steps.offsets();
  T *const hidden = out.last.hidden.address_as<T>(), *const kept_extras = data_or_null<T>(out.extras);
  for (std::int64_t k = 0; k < steps.count(); ++k) {
    const std::int64_t t = steps.at(k), rows = steps.size(t), at = offsets[t];
    if (rows == 0) continue;
    product(device, rows, hidden, weights.hidden, true, sums.address_as<T>(), 0);
    T* const result = out.result.address_as<T>() + at * projected;
    for_each(device, rows * size,
             ForwardStep<T, kKind>{out.gates.address_as<T>() + at * width, kept_extras + at * extras,
                                   projects ? nullptr : result, sums.address_as<T>(),
                                   data_or_null<T>(weights.input_bias), data_or_null<T>(weights.hidden_bias),
                                   projects ? units.address_as<T>() : hidden, data_or_null<T>(out.last.cell),
                                   size});
    if (!projects) continue;
    product(device, rows, units.address_as<T>(), weights.projection, true, hidden, 0);
    for_each(device, rows * projected, CopyRows<T>{result, hidden});
  }
}

}  // namespace
}  // namespace recurring

void rnn_forward(ops::RnnTrace& out, const ops::RnnState& first, const ops::RnnWeights& weights,
                 const ops::RnnSteps& steps) {
  visit_floating(out.gates.dtype(), "rnn", [&]<class T> {
    ops::visit_kind(steps.kind,
                    [&]<ops::RnnKind kKind>() { recurring::forward<T, kKind>(out, first, weights, steps); });
  });
}

namespace recurring {
namespace {

/// The states before the rows of a step. For the first `continued` rows these are the states of the previous
/// step, for the other rows the initial states.
template <class T>
struct Before {
  const T *step, *first;
  std::int64_t continued, pitch;  // the number of rows of `step`, and the distance between them
  __device__ T at(std::int64_t row, std::int64_t j, std::int64_t width) const {
    return row < continued ? step[row * pitch + j] : first[row * width + j];
  }
};

/// Computes one unit of a row of the step. The pointers point to the first row of the step, except
/// `unit_grad` and `cell`.
template <class T, RnnKind kKind>
struct BackwardStep {
  const T *gates, *extras, *grad;  // grad may be null
  Before<T> hidden_before, cell_before;
  T *unit_grad, *cell;  // (batch, size); `unit_grad` is the gradient of the output before a projection
  T *input, *hidden, *previous;  // previous may be null
  std::int64_t size;

  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    constexpr int kGates = kKind == RnnKind::lstm ? 4 : kKind == RnnKind::gru ? 3 : 1;
    const std::int64_t row = i / size, j = i % size, first = row * kGates * size + j;
    const auto gate = [&](int k) { return static_cast<C>(gates[first + k * size]); };
    const auto keep = [&](T* to, int k, C x) { to[first + k * size] = static_cast<T>(x); };
    C all = static_cast<C>(unit_grad[i]);
    if (grad != nullptr) all += static_cast<C>(grad[i]);
    if (previous != nullptr) previous[i] = hidden_before.at(row, j, size);
    if constexpr (kKind == RnnKind::lstm) {
      const ops::LstmUnit<C> u{gate(0),
                               gate(1),
                               gate(2),
                               gate(3),
                               static_cast<C>(extras[row * 2 * size + j]),
                               static_cast<C>(extras[row * 2 * size + size + j])};
      const auto s = ops::LstmGrads<C>::of(u, static_cast<C>(cell_before.at(row, j, size)), all,
                                           static_cast<C>(cell[i]));
      keep(input, 0, s.input);
      keep(input, 1, s.forget);
      keep(input, 2, s.candidate);
      keep(input, 3, s.output);
      cell[i] = static_cast<T>(s.cell);
    } else if constexpr (kKind == RnnKind::gru) {
      const ops::GruUnit<C> u{gate(0), gate(1), gate(2), static_cast<C>(extras[i])};
      const auto s = ops::GruGrads<C>::of(u, static_cast<C>(hidden_before.at(row, j, size)), all);
      keep(input, 0, s.reset);
      keep(input, 1, s.update);
      keep(input, 2, s.fresh);
      keep(hidden, 0, s.reset);
      keep(hidden, 1, s.update);
      keep(hidden, 2, s.hidden_part);
      unit_grad[i] = static_cast<T>(s.before);
    } else {
      using U = std::conditional_t<kKind == RnnKind::tanh, ops::TanhUnit, ops::ReluUnit>;
      keep(input, 0, U::gradient(gate(0), all));
    }
  }
};

/// The first kernel of a backward step of a layer with projections. It computes the gradient of the
/// projection and copies the previous state.
template <class T>
struct Projected {
  const T* grad;  // may be null
  Before<T> hidden_before;
  T *unit_grad, *projected, *previous;
  std::int64_t width;

  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const C all = static_cast<C>(unit_grad[i]) + (grad != nullptr ? static_cast<C>(grad[i]) : C(0));
    unit_grad[i] = projected[i] = static_cast<T>(all);
    previous[i] = hidden_before.at(i / width, i % width, width);
  }
};

template <class T, RnnKind kKind>
void backward(ops::RnnGateGrads& out, const NdArray& grad, const ops::RnnState& last,
              const ops::RnnTrace& trace, const ops::RnnState& first, const ops::RnnWeights& weights,
              const RnnSteps& steps) {
  const Device device = trace.gates.device();
  const std::int64_t projected = trace.result.sizes()[1], width = trace.gates.sizes()[1],
                     size = width / steps.gates(), extras = steps.extras() * size;
  const bool projects = weights.projection.defined();
  start(device, out.first.hidden, last.hidden);
  if (kKind == RnnKind::lstm) start(device, out.first.cell, last.cell);
  const NdArray units = scratch(trace.gates, projects ? steps.batch() : 0, size);
  const DimVector offsets = steps.offsets();
  const auto offset = [&](std::int64_t t) { return offsets[t]; };
  const T *const kept_extras = data_or_null<const T>(trace.extras), *const grads =
                                                                        data_or_null<const T>(grad);
  T* const unit_grad = out.first.hidden.address_as<T>();
  for (std::int64_t k = steps.count() - 1; k >= 0; --k) {
    const std::int64_t t = steps.at(k), rows = steps.size(t), at = offset(t), before = steps.before(t);
    if (rows == 0) continue;
    const std::int64_t continued = before < 0 ? 0 : std::min(steps.size(before), rows),
                       from = before < 0 ? 0 : offset(before);
    const Before<T> hidden_before{trace.result.address_as<const T>() + from * projected,
                                  first.hidden.address_as<const T>(), continued, projected};
    const Before<T> cell_before{kept_extras + from * extras, data_or_null<const T>(first.cell), continued,
                                extras};
    const T* const step_grad = grads != nullptr ? grads + at * projected : nullptr;
    T* const previous = out.previous.address_as<T>() + at * projected;
    if (projects) {
      for_each(device, rows * projected,
               Projected<T>{step_grad, hidden_before, unit_grad,
                            out.projected.address_as<T>() + at * projected, previous, projected});
      product(device, rows, unit_grad, weights.projection, false, units.address_as<T>(), 0);
    }
    T* const hidden = out.hidden.address_as<T>() + at * width;
    for_each(device, rows * size,
             BackwardStep<T, kKind>{trace.gates.address_as<const T>() + at * width, kept_extras + at * extras,
                                    projects ? nullptr : step_grad, hidden_before, cell_before,
                                    projects ? units.address_as<T>() : unit_grad,
                                    data_or_null<T>(out.first.cell), out.input.address_as<T>() + at * width,
                                    hidden, projects ? nullptr : previous, size});
    product(device, rows, hidden, weights.hidden, false, unit_grad, kKind == RnnKind::gru ? 1 : 0);
  }
}

}  // namespace
}  // namespace recurring

void rnn_backward(ops::RnnGateGrads& out, const NdArray& grad, const ops::RnnState& last,
                  const ops::RnnTrace& trace, const ops::RnnState& first, const ops::RnnWeights& weights,
                  const ops::RnnSteps& steps) {
  visit_floating(out.input.dtype(), "rnn_backward", [&]<class T> {
    ops::visit_kind(steps.kind, [&]<ops::RnnKind kKind>() {
      recurring::backward<T, kKind>(out, grad, last, trace, first, weights, steps);
    });
  });
}

}  // namespace ebb::cuda
