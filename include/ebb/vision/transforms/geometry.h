// Where an image's pixels go: torchvision.transforms.v2.functional on tensors.
#pragma once

#include <ebb/autograd/variable.h>

#include <array>
#include <cstdint>

namespace ebb::vision::transforms {

/// How values between pixels are found. `nearest_exact` and `bicubic` are of resize() only.
enum class InterpolationMode { nearest, nearest_exact, bilinear, bicubic };
/// What lies around an image: a colour, its outermost pixels, or it mirrored without (reflect) or with
/// (symmetric) these repeated.
enum class PaddingMode { constant, edge, reflect, symmetric };

/// Functions of images [..., C, H, W]; what stands before C, a batch or frames, is treated alike. Dtypes:
/// floating, and integers, which are computed in Float and rounded where the pixels' values mix. Names,
/// values and errors are those of torchvision.transforms.v2.functional on tensors.
namespace functional {

/// The image at `size`, {height, width}, or {shorter side}, from which the longer one follows and is, with
/// it, at most max_size. antialias averages what bilinear and bicubic would skip when shrinking. The image
/// itself if that is its size already.
EBB_API Variable resize(const Variable& image, IntArrayRef size,
                        InterpolationMode interpolation = InterpolationMode::bilinear,
                        optional<std::int64_t> max_size = nullopt, bool antialias = true);

/// A view of [top, top + height) x [left, left + width); what lies outside the image is 0, in a copy.
EBB_API Variable crop(const Variable& image, std::int64_t top, std::int64_t left, std::int64_t height,
                      std::int64_t width);
/// The middle, {height, width} or {both}; with zeros around a smaller image.
EBB_API Variable center_crop(const Variable& image, IntArrayRef output_size);
/// resize(crop(...)).
EBB_API Variable resized_crop(const Variable& image, std::int64_t top, std::int64_t left, std::int64_t height,
                              std::int64_t width, IntArrayRef size,
                              InterpolationMode interpolation = InterpolationMode::bilinear,
                              bool antialias = true);
/// padding is {all}, {left and right, top and bottom} or {left, top, right, bottom}; fill, of mode constant,
/// is one value or one a channel.
EBB_API Variable pad(const Variable& image, IntArrayRef padding, ArrayRef<double> fill = {0},
                     PaddingMode padding_mode = PaddingMode::constant);

/// Left and right exchanged.
EBB_API Variable hflip(const Variable& image);
/// Top and bottom exchanged.
EBB_API Variable vflip(const Variable& image);

/// Turned by `angle` degrees counter-clockwise about `center`, {x, y} in pixels from the top left corner, or
/// the middle. With expand the result is as large as the turned image. What comes from outside is 0, or
/// `fill`, one value or one a channel. Interpolation nearest or bilinear.
EBB_API Variable rotate(const Variable& image, double angle,
                        InterpolationMode interpolation = InterpolationMode::nearest, bool expand = false,
                        optional<std::array<double, 2>> center = nullopt, ArrayRef<double> fill = {});
/// Turned clockwise by `angle` degrees, scaled and sheared (degrees along x and y) about `center`, then moved
/// by `translate` pixels, {x, y}. center, fill and interpolation as for rotate().
EBB_API Variable affine(const Variable& image, double angle, std::array<double, 2> translate, double scale,
                        std::array<double, 2> shear,
                        InterpolationMode interpolation = InterpolationMode::nearest,
                        ArrayRef<double> fill = {}, optional<std::array<double, 2>> center = nullopt);

}  // namespace functional
}  // namespace ebb::vision::transforms
