// Recurrent layers on a GPU, forward: a step is a library's matrix product and one kernel for all gates.
#include <ebb/core/visit.h>

#include "ops/rnn/cuda_pass.h"

namespace ebb::cuda {
namespace recurring {
namespace {

/// One unit of a row of the step. Pointers are at the step's first row.
template <class T, RnnKind kKind>
struct Step {
  T *gates, *extras, *result;
  const T *sums, *input_bias, *hidden_bias;
  T *hidden, *cell;  // for all sequences: the previous state, replaced by the next one
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
             Step<T, kKind>{out.gates.address_as<T>() + at * width, kept_extras + at * extras,
                            projects ? nullptr : result, sums.address_as<T>(),
                            data_or_null<T>(weights.input_bias), data_or_null<T>(weights.hidden_bias),
                            projects ? units.address_as<T>() : hidden, data_or_null<T>(out.last.cell), size});
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

}  // namespace ebb::cuda
