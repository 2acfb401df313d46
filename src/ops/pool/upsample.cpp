// upsample_nearest1d, upsample_linear1d, upsample_bicubic2d and the other upsample functions.
#include "ops/pool/upsample.h"

#include <ebb/ops/pool.h>

namespace ebb {
namespace ops {
namespace {

using resizing::Filter;

constexpr UpsampleKind kUpsampleNearest1D{"upsample_nearest1d",
                                          "UpsampleNearest1DBackward0",
                                          "UpsampleNearest1DBackwardBackward0",
                                          1,
                                          Filter::nearest,
                                          false};
constexpr UpsampleKind kUpsampleNearest2D{"upsample_nearest2d",
                                          "UpsampleNearest2DBackward0",
                                          "UpsampleNearest2DBackwardBackward0",
                                          2,
                                          Filter::nearest,
                                          false};
constexpr UpsampleKind kUpsampleNearest3D{"upsample_nearest3d",
                                          "UpsampleNearest3DBackward0",
                                          "UpsampleNearest3DBackwardBackward0",
                                          3,
                                          Filter::nearest,
                                          false};
constexpr UpsampleKind kUpsampleNearestExact1D{"_upsample_nearest_exact1d",
                                               "UpsampleNearestExact1DBackward0",
                                               "UpsampleNearestExact1DBackwardBackward0",
                                               1,
                                               Filter::nearest_exact,
                                               false};
constexpr UpsampleKind kUpsampleNearestExact2D{"_upsample_nearest_exact2d",
                                               "UpsampleNearestExact2DBackward0",
                                               "UpsampleNearestExact2DBackwardBackward0",
                                               2,
                                               Filter::nearest_exact,
                                               false};
constexpr UpsampleKind kUpsampleNearestExact3D{"_upsample_nearest_exact3d",
                                               "UpsampleNearestExact3DBackward0",
                                               "UpsampleNearestExact3DBackwardBackward0",
                                               3,
                                               Filter::nearest_exact,
                                               false};
constexpr UpsampleKind kUpsampleLinear1D{"upsample_linear1d",
                                         "UpsampleLinear1DBackward0",
                                         "UpsampleLinear1DBackwardBackward0",
                                         1,
                                         Filter::linear,
                                         false};
constexpr UpsampleKind kUpsampleBilinear2D{"upsample_bilinear2d",
                                           "UpsampleBilinear2DBackward0",
                                           "UpsampleBilinear2DBackwardBackward0",
                                           2,
                                           Filter::linear,
                                           false};
constexpr UpsampleKind kUpsampleTrilinear3D{"upsample_trilinear3d",
                                            "UpsampleTrilinear3DBackward0",
                                            "UpsampleTrilinear3DBackwardBackward0",
                                            3,
                                            Filter::linear,
                                            false};
constexpr UpsampleKind kUpsampleBicubic2D{"upsample_bicubic2d",
                                          "UpsampleBicubic2DBackward0",
                                          "UpsampleBicubic2DBackwardBackward0",
                                          2,
                                          Filter::cubic,
                                          false};
constexpr UpsampleKind kUpsampleBilinear2DAa{"_upsample_bilinear2d_aa",
                                             "UpsampleBilinear2DAaBackward0",
                                             "UpsampleBilinear2DAaBackwardBackward0",
                                             2,
                                             Filter::linear,
                                             true};
constexpr UpsampleKind kUpsampleBicubic2DAa{"_upsample_bicubic2d_aa",
                                            "UpsampleBicubic2DAaBackward0",
                                            "UpsampleBicubic2DAaBackwardBackward0",
                                            2,
                                            Filter::cubic,
                                            true};

}  // namespace
}  // namespace ops

Variable upsample_nearest1d(const Variable& self, IntArrayRef output_size, optional<double> scales) {
  return ops::upsample(ops::kUpsampleNearest1D, self, output_size, {scales}, false);
}
Variable upsample_nearest1d(const Variable& input, OptionalIntArrayRef output_size,
                            optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleNearest1D, input, output_size, scale_factors, false);
}
Variable upsample_nearest2d(const Variable& self, IntArrayRef output_size, optional<double> scales_h,
                            optional<double> scales_w) {
  return ops::upsample(ops::kUpsampleNearest2D, self, output_size, {scales_h, scales_w}, false);
}
Variable upsample_nearest2d(const Variable& input, OptionalIntArrayRef output_size,
                            optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleNearest2D, input, output_size, scale_factors, false);
}
Variable upsample_nearest3d(const Variable& self, IntArrayRef output_size, optional<double> scales_d,
                            optional<double> scales_h, optional<double> scales_w) {
  return ops::upsample(ops::kUpsampleNearest3D, self, output_size, {scales_d, scales_h, scales_w}, false);
}
Variable upsample_nearest3d(const Variable& input, OptionalIntArrayRef output_size,
                            optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleNearest3D, input, output_size, scale_factors, false);
}
Variable _upsample_nearest_exact1d(const Variable& self, IntArrayRef output_size, optional<double> scales) {
  return ops::upsample(ops::kUpsampleNearestExact1D, self, output_size, {scales}, false);
}
Variable _upsample_nearest_exact1d(const Variable& input, OptionalIntArrayRef output_size,
                                   optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleNearestExact1D, input, output_size, scale_factors, false);
}
Variable _upsample_nearest_exact2d(const Variable& self, IntArrayRef output_size, optional<double> scales_h,
                                   optional<double> scales_w) {
  return ops::upsample(ops::kUpsampleNearestExact2D, self, output_size, {scales_h, scales_w}, false);
}
Variable _upsample_nearest_exact2d(const Variable& input, OptionalIntArrayRef output_size,
                                   optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleNearestExact2D, input, output_size, scale_factors, false);
}
Variable _upsample_nearest_exact3d(const Variable& self, IntArrayRef output_size, optional<double> scales_d,
                                   optional<double> scales_h, optional<double> scales_w) {
  return ops::upsample(ops::kUpsampleNearestExact3D, self, output_size, {scales_d, scales_h, scales_w},
                       false);
}
Variable _upsample_nearest_exact3d(const Variable& input, OptionalIntArrayRef output_size,
                                   optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleNearestExact3D, input, output_size, scale_factors, false);
}
Variable upsample_linear1d(const Variable& self, IntArrayRef output_size, bool align_corners,
                           optional<double> scales) {
  return ops::upsample(ops::kUpsampleLinear1D, self, output_size, {scales}, align_corners);
}
Variable upsample_linear1d(const Variable& input, OptionalIntArrayRef output_size, bool align_corners,
                           optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleLinear1D, input, output_size, scale_factors, align_corners);
}
Variable upsample_bilinear2d(const Variable& self, IntArrayRef output_size, bool align_corners,
                             optional<double> scales_h, optional<double> scales_w) {
  return ops::upsample(ops::kUpsampleBilinear2D, self, output_size, {scales_h, scales_w}, align_corners);
}
Variable upsample_bilinear2d(const Variable& input, OptionalIntArrayRef output_size, bool align_corners,
                             optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleBilinear2D, input, output_size, scale_factors, align_corners);
}
Variable upsample_trilinear3d(const Variable& self, IntArrayRef output_size, bool align_corners,
                              optional<double> scales_d, optional<double> scales_h,
                              optional<double> scales_w) {
  return ops::upsample(ops::kUpsampleTrilinear3D, self, output_size, {scales_d, scales_h, scales_w},
                       align_corners);
}
Variable upsample_trilinear3d(const Variable& input, OptionalIntArrayRef output_size, bool align_corners,
                              optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleTrilinear3D, input, output_size, scale_factors, align_corners);
}
Variable upsample_bicubic2d(const Variable& self, IntArrayRef output_size, bool align_corners,
                            optional<double> scales_h, optional<double> scales_w) {
  return ops::upsample(ops::kUpsampleBicubic2D, self, output_size, {scales_h, scales_w}, align_corners);
}
Variable upsample_bicubic2d(const Variable& input, OptionalIntArrayRef output_size, bool align_corners,
                            optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleBicubic2D, input, output_size, scale_factors, align_corners);
}
Variable _upsample_bilinear2d_aa(const Variable& self, IntArrayRef output_size, bool align_corners,
                                 optional<double> scales_h, optional<double> scales_w) {
  return ops::upsample(ops::kUpsampleBilinear2DAa, self, output_size, {scales_h, scales_w}, align_corners);
}
Variable _upsample_bilinear2d_aa(const Variable& input, OptionalIntArrayRef output_size, bool align_corners,
                                 optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleBilinear2DAa, input, output_size, scale_factors, align_corners);
}
Variable _upsample_bicubic2d_aa(const Variable& self, IntArrayRef output_size, bool align_corners,
                                optional<double> scales_h, optional<double> scales_w) {
  return ops::upsample(ops::kUpsampleBicubic2DAa, self, output_size, {scales_h, scales_w}, align_corners);
}
Variable _upsample_bicubic2d_aa(const Variable& input, OptionalIntArrayRef output_size, bool align_corners,
                                optional<ArrayRef<double>> scale_factors) {
  return ops::upsample(ops::kUpsampleBicubic2DAa, input, output_size, scale_factors, align_corners);
}

}  // namespace ebb
