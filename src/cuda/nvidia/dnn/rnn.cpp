// Recurrent layers with cuDNN, forward and backward.
#include <ebb/core/error.h>

#include "cuda/nvidia/dnn/handles.h"
#include "cuda/nvidia/dnn/recurrent.h"
#include "cuda/nvidia/lru_cache.h"

#include <algorithm>
#include <limits>

namespace ebb::cuda {
namespace {

using dnn::library;
using dnn::Recurrent;

constexpr std::size_t kOldestForBFloat16 = 91300;
constexpr std::size_t kRefusalsKept = 1024;

// The parameters that determine whether cuDNN supports a layer; compared as bytes.
struct RnnProblem {
  std::int64_t directions, features, hidden, projected, batch, steps;
  std::int32_t cell, dtype, device, biases, training, even;

  explicit RnnProblem(const DnnRnn& l)
      : directions(l.directions),
        features(l.features),
        hidden(l.hidden),
        projected(l.projected),
        batch(l.batch()),
        steps(l.steps()),
        cell(static_cast<std::int32_t>(l.cell)),
        dtype(static_cast<std::int32_t>(l.dtype)),
        device(static_cast<std::int32_t>(l.device.index())),
        biases(l.biases),
        training(l.training),
        even(l.is_even()) {}
};

// Returns the layers that cuDNN has declined on the calling thread.
LruCache<RnnProblem, bool>& refusals() {
  static thread_local LruCache<RnnProblem, bool> mine(kRefusalsKept);
  return mine;
}

// Calls run(handle), unless cuDNN has already declined a layer with these properties. Returns false if cuDNN
// declines the layer, in this call or an earlier one.
template <class Run>
bool attempt(const char* op, const DnnRnn& l, const Run& run) {
  const RnnProblem problem(l);
  if (refusals().find(problem)) return false;
  const DeviceScope scope(l.device);
  try {
    run(dnn::handles().on(l.device));
    return true;
  } catch (const dnn::Failure& f) {
    if (!f.is_unsupported())
      ebb::detail::fail(op, ": cuDNN failed on ", l.batch(), " sequences of up to ", l.steps(), " steps of ",
                        l.features, " features, with ", l.hidden, " hidden units in ", l.directions,
                        " direction(s) and ", l.dtype, ": ", f.what(),
                        ". Call cuda::enable_cudnn(false) to run without cuDNN.");
    refusals().insert(problem, true);
    return false;
  }
}

// Returns whether cuDNN's 32-bit indices are sufficient.
bool is_small(const DnnRnn& l) {
  std::int64_t rows = 0;
  for (const std::int32_t n : l.lengths) rows += n;
  const std::int64_t widest = std::max({l.features, 4 * l.hidden, l.directions * l.projected}) * l.directions;
  return std::max(rows, widest) * widest <= std::numeric_limits<std::int32_t>::max();
}

// Returns whether cuDNN should run the layer. In a capture, sequences of different lengths do not use cuDNN,
// because its documentation does not say how the lengths reach the device and whether replays can read them.
bool is_for_cudnn(const DnnRnn& l) {
  if (!dnn_is_used() || !dnn::has_recurrent_layers() || !is_small(l)) return false;
  if (l.dtype == kBFloat16 && library().version() < kOldestForBFloat16) return false;
  return l.is_even() || !dnn::is_capturing(l.device);
}

NdArray work_for(cudnnHandle_t handle, const DnnRnn& l, const Recurrent& r) {
  const auto bytes = static_cast<std::int64_t>(dnn::temp_space_of(handle, l, r).work);
  return NdArray::empty({bytes}, kByte, l.device);
}

}  // namespace

std::optional<DnnRnnSpaces> dnn_rnn_spaces(const DnnRnn& l) {
  std::optional<DnnRnnSpaces> spaces;
  if (!is_for_cudnn(l)) return spaces;
  attempt("rnn", l, [&](cudnnHandle_t handle) {
    const Recurrent r(l);
    spaces = dnn::places_of(handle, l, r);
    if (spaces) spaces->kept = static_cast<std::int64_t>(dnn::temp_space_of(handle, l, r).kept);
  });
  return spaces;
}

bool dnn_rnn(const DnnRnn& l, const DnnRnnArrays& arrays, const NdArray& last_hidden,
             const NdArray& last_cell) {
  return attempt("rnn", l, [&](cudnnHandle_t handle) {
    const Recurrent r(l);
    dnn::run_forward(handle, l, r, arrays, last_hidden, last_cell, work_for(handle, l, r));
  });
}

bool dnn_rnn_backward(const DnnRnn& l, const DnnRnnArrays& arrays, const DnnRnnGrads& grads) {
  return attempt("rnn_backward", l, [&](cudnnHandle_t handle) {
    const Recurrent r(l);
    const NdArray work = work_for(handle, l, r);
    dnn::run_backward(handle, l, r, arrays, grads, work);
    if (grads.dparameters.defined())
      dnn::run_backward_to_parameters(handle, r, arrays, grads.dparameters, work);
  });
}

}  // namespace ebb::cuda
