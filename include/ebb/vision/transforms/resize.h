// Resize, CenterCrop, Pad, ToDtype and Normalize: transforms without random numbers.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/nn/expanding_array.h>
#include <ebb/vision/transforms/compose.h>
#include <ebb/vision/transforms/geometry.h>

#include <cstdint>
#include <vector>

namespace ebb::vision::transforms {

/// Applies functional::resize: `Resize(256)` sets the shorter side, and `Resize({32, 48})` sets height and
/// width.
class EBB_API Resize : public Transform {
 public:
  explicit Resize(IntArrayRef size) : size_(size.vec()) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(std::vector<std::int64_t>, size);
  EBB_ARG(InterpolationMode, interpolation) = InterpolationMode::bilinear;
  EBB_ARG(optional<std::int64_t>, max_size);  ///< limit of the longer side
  EBB_ARG(bool, antialias) = true;            ///< averages pixels that would be skipped
};

/// Applies functional::center_crop.
class EBB_API CenterCrop : public Transform {
 public:
  explicit CenterCrop(ExpandingArray<2> size) : size_(size) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(ExpandingArray<2>, size);  ///< height and width
};

/// Applies functional::pad.
class EBB_API Pad : public Transform {
 public:
  explicit Pad(IntArrayRef padding) : padding_(padding.vec()) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(std::vector<std::int64_t>, padding);  ///< {all}, {x, y} or {left, top, right, bottom}
  EBB_ARG(std::vector<double>, fill) = { 0 };   ///< one value or one for each channel
  EBB_ARG(PaddingMode, padding_mode) = PaddingMode::constant;
};

/// Applies functional::to_dtype: `ToDtype(kFloat, true)` converts bytes to [0, 1].
class EBB_API ToDtype : public Transform {
 public:
  explicit ToDtype(DType dtype, bool scale = false) : dtype_(dtype), scale_(scale) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(DType, dtype);
  EBB_ARG(bool, scale);  ///< maps the full range of the old dtype to the full range of the new one
};

/// Applies functional::normalize.
class EBB_API Normalize : public Transform {
 public:
  Normalize(ArrayRef<double> mean, ArrayRef<double> std) : mean_(mean.vec()), std_(std.vec()) {}
  Variable forward(const Variable& image) const override;

  EBB_ARG(std::vector<double>, mean);
  EBB_ARG(std::vector<double>, std);
};

}  // namespace ebb::vision::transforms
