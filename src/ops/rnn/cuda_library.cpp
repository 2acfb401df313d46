// Recurrent layers with cuDNN. Parameters and gradients are copied, because cuDNN needs all parameters in one
// buffer and writes all gradients to another. cuDNN does not document its alignment requirements, so its
// buffers are aligned like allocations.
#include <ebb/cuda/cuda.h>

#include "kernel/cuda/dnn.h"
#include "ops/common/cuda_aligned.h"
#include "ops/rnn/kernels.h"

#include <cstdint>

namespace ebb::cuda {
namespace {

using ops::RnnKind;
using ops::RnnLayer;
using ops::RnnParameters;

// The parameters in the order of RnnParameters.
enum Parameter : std::uint8_t { kInputWeight, kHiddenWeight, kInputBias, kHiddenBias, kProjection };

DnnCell cell_of(RnnKind kind) {
  switch (kind) {
    case RnnKind::tanh:
      return DnnCell::tanh;
    case RnnKind::relu:
      return DnnCell::relu;
    case RnnKind::lstm:
      return DnnCell::lstm;
    default:
      return DnnCell::gru;
  }
}

// Returns whether cuDNN is used. It is not used for a single step, because it would not be faster: parameters
// are copied in every call. It is also not used for ReLU or in deterministic mode, because cuDNN documents
// neither whether its ReLU preserves NaN nor whether its sums are deterministic. Projections must be smaller
// than the hidden size.
bool is_for_library(const RnnLayer& layer) {
  if (!dnn_is_used() || is_cudnn_deterministic()) return false;
  if (layer.steps.count() < 2 || layer.steps.kind == RnnKind::relu || layer.rows.numel() == 0) return false;
  const RnnParameters& p = layer.sides[0].parameters;
  if (p[kHiddenWeight].numel() == 0) return false;
  return !p[kProjection].defined() || p[kProjection].sizes()[0] < p[kProjection].sizes()[1];
}

// Returns the length of each sequence. A sequence ends at the last step that contains it.
std::vector<std::int32_t> lengths_of(const ops::RnnSteps& steps) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(steps.batch()));
  for (std::int64_t t = 0; t < steps.count(); ++t)
    for (std::int64_t i = t + 1 < steps.count() ? steps.size(t + 1) : 0; i < steps.size(t); ++i)
      lengths[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(t + 1);
  return lengths;
}

NdArray bytes(std::int64_t count, Device device) { return NdArray::empty({count}, kByte, device); }

// Returns the view of a parameter in the buffer of all parameters.
NdArray placed(const NdArray& space, const NdArray& parameter, std::int64_t place) {
  return NdArray(space.storage(), DimVector(parameter.sizes()), contiguous_strides(parameter.sizes()),
                 place / element_size(parameter.dtype()), parameter.dtype());
}

// Calls f(side, i, place) for each parameter that the layer has.
template <class F>
void for_parameters(const RnnLayer& layer, const DnnRnnSpaces& spaces, const F& f) {
  for (std::size_t d = 0; d < layer.sides.size(); ++d)
    for (std::size_t i = 0; i < layer.sides[d].parameters.size(); ++i)
      if (layer.sides[d].parameters[i].defined()) f(d, i, spaces.place[d][i]);
}

NdArray packed(const RnnLayer& layer, const DnnRnnSpaces& spaces) {
  const Device device = layer.rows.device();
  const NdArray space = bytes(spaces.parameters, device);
  for_parameters(layer, spaces, [&](std::size_t d, std::size_t i, std::int64_t place) {
    const NdArray& from = layer.sides[d].parameters[i];
    NdArray to = placed(space, from, place);
    kernels::copy(device, to, from);
  });
  return space;
}

// Returns the states of all directions in one array, or an undefined array if the layer has none.
NdArray joined(const RnnLayer& layer, NdArray ops::RnnState::* member) {
  const NdArray& first = layer.sides[0].first.*member;
  if (!first.defined()) return {};
  const std::int64_t rows = first.sizes()[0], width = first.sizes()[1];
  if (layer.sides.size() == 1)
    return aligned(first.as_strided({1, rows, width}, {rows * width, width, 1}, first.offset()));
  const NdArray all = NdArray::empty({2, rows, width}, first.dtype(), first.device());
  for (std::int64_t d = 0; d < 2; ++d) {
    NdArray to = all.as_strided({rows, width}, {width, 1}, d * rows * width);
    kernels::copy(first.device(), to, layer.sides[static_cast<std::size_t>(d)].first.*member);
  }
  return all;
}

// A cuDNN call: its description of the layer, and its inputs.
struct Call {
  std::vector<std::int32_t> lengths;
  DnnRnn layer;
  DnnRnnSpaces spaces;
  NdArray rows, parameters, hidden, cell;

  NdArray made(const DimVector& sizes) const { return NdArray::empty(sizes, layer.dtype, layer.device); }
  NdArray states(std::int64_t width) const { return made({layer.directions, layer.batch(), width}); }
  NdArray cells() const { return cell.defined() ? states(layer.hidden) : NdArray(); }
  DnnRnnArrays arrays(const NdArray& result, const NdArray& kept) const {
    return {.rows = rows,
            .hidden = hidden,
            .cell = cell,
            .parameters = parameters,
            .result = result,
            .kept = kept};
  }
};

// Returns nullopt if cuDNN does not support the layer.
std::optional<Call> call_of(const RnnLayer& layer, bool training) {
  if (!is_for_library(layer)) return {};
  const RnnParameters& p = layer.sides[0].parameters;
  Call call;
  call.lengths = lengths_of(layer.steps);
  call.layer = {.cell = cell_of(layer.steps.kind),
                .dtype = layer.rows.dtype(),
                .device = layer.rows.device(),
                .directions = static_cast<std::int64_t>(layer.sides.size()),
                .features = layer.rows.sizes()[1],
                .hidden = p[kHiddenWeight].sizes()[0] / layer.steps.gates(),
                .projected = p[kHiddenWeight].sizes()[1],
                .biases = p[kInputBias].defined(),
                .training = training,
                .lengths = call.lengths};
  const std::optional<DnnRnnSpaces> spaces = dnn_rnn_spaces(call.layer);
  if (!spaces) return {};
  call.spaces = *spaces;
  call.rows = aligned(layer.rows);
  call.parameters = packed(layer, *spaces);
  call.hidden = joined(layer, &ops::RnnState::hidden);
  call.cell = joined(layer, &ops::RnnState::cell);
  return call;
}

NdArray or_zeros(const NdArray& grad, const NdArray& like) {
  if (grad.defined() || !like.defined()) return aligned(grad);
  NdArray zeros = NdArray::empty(like.sizes(), like.dtype(), like.device());
  kernels::fill(like.device(), zeros, 0);
  return zeros;
}

}  // namespace

bool rnn_layer(ops::RnnOutput& out, const RnnLayer& layer, bool training) {
  const std::optional<Call> call = call_of(layer, training);
  if (!call) return false;
  const DnnRnn& l = call->layer;
  out.rows = call->made({layer.rows.sizes()[0], l.directions * l.projected});
  out.hidden = call->states(l.projected);
  out.cell = call->cells();
  if (training) out.kept = bytes(call->spaces.kept, l.device);
  return dnn_rnn(l, call->arrays(out.rows, out.kept), out.hidden, out.cell);
}

bool rnn_layer_backward(ops::RnnLayerGrads& found, const ops::RnnOutput& grads, const ops::RnnOutput& out,
                        const RnnLayer& layer, bool of_parameters) {
  const std::optional<Call> call = call_of(layer, true);
  if (!call || call->spaces.kept != out.kept.numel()) return false;
  const DnnRnn& l = call->layer;
  found.rows = call->made({layer.rows.sizes()[0], l.features});
  found.hidden = call->states(l.projected);
  found.cell = call->cells();
  NdArray kept =
      bytes(call->spaces.kept, l.device);  // a copy, because another backward pass may need the original
  kernels::copy(l.device, kept, out.kept);
  NdArray dparameters;
  if (of_parameters) {
    dparameters = bytes(call->spaces.parameters, l.device);
    kernels::fill(l.device, dparameters, 0);
  }
  const NdArray dresult = or_zeros(grads.rows, out.rows), dhidden = or_zeros(grads.hidden, found.hidden),
                dcell = or_zeros(grads.cell, found.cell);
  const bool done = dnn_rnn_backward(l, call->arrays(out.rows, kept),
                                     {.result = dresult,
                                      .last_hidden = dhidden,
                                      .last_cell = dcell,
                                      .drows = found.rows,
                                      .dhidden = found.hidden,
                                      .dcell = found.cell,
                                      .dparameters = dparameters});
  if (!done || !of_parameters) return done;
  found.sides.resize(layer.sides.size());
  for_parameters(layer, call->spaces, [&](std::size_t d, std::size_t i, std::int64_t place) {
    const NdArray from = placed(dparameters, layer.sides[d].parameters[i], place);
    found.sides[d][i] = NdArray::empty(from.sizes(), from.dtype(), l.device);
    kernels::copy(l.device, found.sides[d][i], from);
  });
  return true;
}

}  // namespace ebb::cuda
