// Helpers of the upsample functions: their descriptions, and upsample(), which resizes a tensor.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/pool/math_axis.h"

#include <initializer_list>

namespace ebb::ops {

/// The description of one upsample function: its name, the names of its nodes, the number of axes and the
/// filter.
struct UpsampleKind {
  const char* op;
  const char* layer;
  const char* gradient;
  int dims;
  resizing::Filter filter;
  bool antialias;
};

/// Resizes `x`. A given scale above 0 replaces the ratio of the sizes.
Variable upsample(const UpsampleKind& kind, const Variable& x, IntArrayRef output_size,
                  std::initializer_list<optional<double>> scales, bool align_corners);
/// Resizes by sizes or by factors; exactly one of them must be given.
Variable upsample(const UpsampleKind& kind, const Variable& x, OptionalIntArrayRef output_size,
                  optional<ArrayRef<double>> scale_factors, bool align_corners);

}  // namespace ebb::ops
