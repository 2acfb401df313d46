// How windows slide over the spatial axes: what convolutions and pools share.
#pragma once

#include "onnx/call.h"

namespace onnx {

struct Windows {
  Ints kernel, stride, dilation;
  Ints begin, end;  ///< padding
  std::int64_t rank = 0;

  /// From the attributes; auto_pad becomes numbers for an input of these sizes.
  Windows(const Call& c, ebb::IntArrayRef input, Ints kernel);
  /// Whether every axis is padded alike on both sides.
  bool symmetric() const { return begin == end; }
  /// The padding as constant_pad_nd takes it.
  Ints pairs() const;
};

}  // namespace onnx
