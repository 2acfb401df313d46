// softmax along a dimension other than the last, on the device.
#pragma once

#include "kernel/lines.h"

namespace ebb::cuda {

/// Computes softmax(x), or its logarithm, for lines whose elements are not contiguous.
void softmax_columns(NdArray& out, const NdArray& x, const Lines& lines, bool log);
void softmax_columns_backward(NdArray& out, const NdArray& grad, const NdArray& y, const Lines& lines,
                              bool log, bool whole);

}  // namespace ebb::cuda
