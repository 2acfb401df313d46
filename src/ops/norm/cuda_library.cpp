// Batch normalization with cuDNN, whose weights and statistics are Float.
#include "kernel/cuda/dnn.h"
#include "ops/common/kernels.h"
#include "ops/norm/cuda.h"

namespace ebb::cuda {
namespace {

// Returns whether cuDNN is used: the channels are contiguous (channels-last) and fill whole units of 16
// bytes. cuDNN also accepts contiguous arrays, but transposes them in a workspace of twice their size.
bool is_for_library(const NdArray& x, const kernels::NormShape& s) {
  return dnn_is_used() && x.dtype() != kDouble && s.places == 1 &&
         s.channels * element_size(x.dtype()) % 16 == 0;
}

NdArray values(const kernels::NormShape& s, Device device) {
  return NdArray::empty({s.channels}, kFloat, device);
}

// Returns `x` as Float, or an array filled with the value `number` if x is undefined.
NdArray as_float(const NdArray& x, double number, const kernels::NormShape& s, Device device) {
  if (x.defined() && x.dtype() == kFloat) return x;
  NdArray out = values(s, device);
  if (x.defined())
    kernels::copy(device, out, x);
  else
    kernels::fill(device, out, number);
  return out;
}

}  // namespace

bool batch_norm_train_by_library(NdArray& out, kernels::BatchStatistics& stats, const NdArray& x,
                                 const NdArray& weight, const NdArray& bias, const kernels::NormShape& s,
                                 double eps) {
  if (!is_for_library(x, s)) return false;
  const NdArray w = as_float(weight, 1, s, x.device()), b = as_float(bias, 0, s, x.device());
  return dnn_batch_norm({.in = x,
                         .out = out,
                         .mean = stats.mean,
                         .rstd = stats.rstd,
                         .weight = w,
                         .bias = b,
                         .eps = static_cast<float>(eps)});
}

bool batch_norm_backward_by_library(kernels::NormGrads& out, const NdArray& dy, const kernels::NormSaved& in,
                                    const kernels::NormShape& s) {
  // cuDNN computes all three gradients. If dx is not needed, ebb's kernel for the sums is cheaper.
  if (!out.dx.defined() || !is_for_library(in.x, s)) return false;
  const Device device = in.x.device();
  const NdArray w = as_float(in.weight, 1, s, device);
  const auto is_direct = [](const NdArray& x) { return x.defined() && x.dtype() == kFloat; };
  const NdArray dweight = is_direct(out.dweight) ? out.dweight : values(s, device),
                dbias = is_direct(out.dbias) ? out.dbias : values(s, device);
  if (!dnn_batch_norm_backward({.in = in.x,
                                .dout = dy,
                                .mean = in.mean,
                                .rstd = in.rstd,
                                .weight = w,
                                .din = out.dx,
                                .dweight = dweight,
                                .dbias = dbias}))
    return false;
  if (out.dweight.defined() && !is_direct(out.dweight)) kernels::copy(device, out.dweight, dweight);
  if (out.dbias.defined() && !is_direct(out.dbias)) kernels::copy(device, out.dbias, dbias);
  return true;
}

}  // namespace ebb::cuda
