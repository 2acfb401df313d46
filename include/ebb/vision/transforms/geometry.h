// resize, crop, pad, flip, rotate and affine: torchvision.transforms.v2.functional on tensors.
#pragma once

#include <ebb/autograd/variable.h>

#include <array>
#include <cstdint>

namespace ebb::vision::transforms {

/// The interpolation between pixels. `nearest_exact` and `bicubic` are only for resize().
enum class InterpolationMode { nearest, nearest_exact, bilinear, bicubic };
/// The values outside an image: a constant, the outermost pixels, or the mirrored image. `reflect` does not
/// repeat the outermost pixels, `symmetric` does.
enum class PaddingMode { constant, edge, reflect, symmetric };

/// Functions of images [..., C, H, W]. Leading dimensions, for example a batch or frames, are transformed
/// equally. Dtypes are floating or integer. Functions that mix pixel values compute integer images in Float
/// and round the result. Names, values and errors are those of torchvision.transforms.v2.functional on
/// tensors.
namespace functional {

/// Resizes to `size`, {height, width} or {shorter side}. With {shorter side} the aspect ratio is kept, and
/// the longer side is at most max_size. When the image shrinks, antialias averages pixels that bilinear and
/// bicubic would skip. Returns `image` itself if it already has the requested size.
EBB_API Variable resize(const Variable& image, IntArrayRef size,
                        InterpolationMode interpolation = InterpolationMode::bilinear,
                        optional<std::int64_t> max_size = nullopt, bool antialias = true);

/// Returns a view of [top, top + height) x [left, left + width). If this region exceeds the image, returns a
/// copy with zeros outside the image.
EBB_API Variable crop(const Variable& image, std::int64_t top, std::int64_t left, std::int64_t height,
                      std::int64_t width);
/// Crops the centre, {height, width} or {both}; a smaller image is padded with zeros.
EBB_API Variable center_crop(const Variable& image, IntArrayRef output_size);
/// Crops and then resizes: resize(crop(...)).
EBB_API Variable resized_crop(const Variable& image, std::int64_t top, std::int64_t left, std::int64_t height,
                              std::int64_t width, IntArrayRef size,
                              InterpolationMode interpolation = InterpolationMode::bilinear,
                              bool antialias = true);
/// Pads. padding is {all}, {left and right, top and bottom} or {left, top, right, bottom}. fill, for mode
/// constant, is one value or one for each channel.
EBB_API Variable pad(const Variable& image, IntArrayRef padding, ArrayRef<double> fill = {0},
                     PaddingMode padding_mode = PaddingMode::constant);

/// Flips the image horizontally: exchanges left and right.
EBB_API Variable hflip(const Variable& image);
/// Flips the image vertically: exchanges top and bottom.
EBB_API Variable vflip(const Variable& image);

/// Rotates by `angle` degrees counter-clockwise about `center`, {x, y} in pixels from the top left corner.
/// The default is the middle. With expand the result contains the whole rotated image. Pixels from outside
/// the image get `fill`, which is one value or one for each channel; the default is 0. Interpolation is
/// nearest or bilinear.
EBB_API Variable rotate(const Variable& image, double angle,
                        InterpolationMode interpolation = InterpolationMode::nearest, bool expand = false,
                        optional<std::array<double, 2>> center = nullopt, ArrayRef<double> fill = {});
/// Rotates clockwise by `angle` degrees, scales and shears (degrees along x and y) about `center`, then moves
/// by `translate` pixels, {x, y}. center, fill and interpolation are as in rotate().
EBB_API Variable affine(const Variable& image, double angle, std::array<double, 2> translate, double scale,
                        std::array<double, 2> shear,
                        InterpolationMode interpolation = InterpolationMode::nearest,
                        ArrayRef<double> fill = {}, optional<std::array<double, 2>> center = nullopt);

}  // namespace functional
}  // namespace ebb::vision::transforms
