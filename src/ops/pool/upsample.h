// What the functions that resize share.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/pool/math_axis.h"

#include <initializer_list>

namespace ebb::ops {

/// One of the functions: its name, its nodes' names, and what it does along how many axes.
struct UpsampleKind {
  const char* op;
  const char* layer;
  const char* gradient;
  int dims;
  resizing::Filter filter;
  bool antialias;
};

/// `x` resized to the sizes; a scale that is given, and above 0, takes the place of the ratio of sizes.
Variable upsample(const UpsampleKind& kind, const Variable& x, IntArrayRef output_size,
                  std::initializer_list<optional<double>> scales, bool align_corners);
/// The same by sizes or by factors, one of the two.
Variable upsample(const UpsampleKind& kind, const Variable& x, OptionalIntArrayRef output_size,
                  optional<ArrayRef<double>> scale_factors, bool align_corners);

}  // namespace ebb::ops
