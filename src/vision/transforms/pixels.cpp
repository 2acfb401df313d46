// to_dtype, normalize, erase and gaussian_blur.
#include <ebb/ebb.h>
#include <ebb/vision/transforms/pixels.h>

#include "vision/transforms/image.h"

#include <cmath>

namespace ebb::vision::transforms::functional {
namespace {

int value_bits(DType dtype) { return static_cast<int>(std::log2(max_value(dtype) + 1)); }

// Returns one value, or one per channel, as a tensor [C, 1, 1].
Variable per_channel(const char* what, ArrayRef<double> values, std::int64_t channels, const Variable& like) {
  const auto count = static_cast<std::int64_t>(values.size());
  EBB_CHECK(count == 1 || count == channels, what, ": expected one value or one for each of ", channels,
            " channels, got ", count, ".");
  return tensor(values, like.options()).reshape({-1, 1, 1});
}

// Returns exp(-x^2 / (2 sigma^2)) for x = -(size - 1) / 2, ..., (size - 1) / 2, normalised to the sum 1.
Variable gaussian(std::int64_t size, double sigma, const TensorOptions& options) {
  const double end = static_cast<double>(size - 1) / (2 * std::sqrt(2.0));
  return linspace(-end, end, size, options).div(sigma).pow(2).neg().softmax(0);
}

}  // namespace

Variable to_dtype(const Variable& image, DType dtype, bool scale) {
  const DType from = image.scalar_type();
  if (from == dtype) return image;
  if (!scale || (is_floating(from) && is_floating(dtype))) return image.to(dtype);
  EBB_CHECK(from != kBool && dtype != kBool,
            "to_dtype: values cannot be scaled to or from Bool, got a conversion of ", from, " to ", dtype,
            ".");
  if (is_floating(from)) {
    EBB_CHECK(value_bits(dtype) <= (from == kDouble  ? 52
                                    : from == kFloat ? 23
                                                     : 8),
              "to_dtype: the image's dtype ", from, " has less precision than ", dtype,
              ". Convert to a dtype with fewer bits.");
    // Maps equal intervals of [0, 1] to all integers. The 1e-3 prevents an overflow for the value 1.
    return image.mul(max_value(dtype) + 1 - 1e-3).to(dtype);
  }
  if (is_floating(dtype)) return image.to(dtype).mul_(1 / max_value(from));
  const int more = value_bits(dtype) - value_bits(from);
  return more < 0 ? image.bitwise_right_shift(-more).to(dtype) : image.to(dtype).bitwise_left_shift(more);
}

Variable normalize(const Variable& image, ArrayRef<double> mean, ArrayRef<double> std) {
  const ImageSize size = size_of("normalize", image);
  EBB_CHECK(image.is_floating_point(), "normalize: expected an image of floating dtype, got ", image,
            ". Convert first: to_dtype(image, kFloat, true).");
  for (const double value : std) EBB_CHECK(value != 0, "normalize: a std of 0 would divide by zero.");
  return image.sub(per_channel("normalize", mean, size.channels, image))
      .div_(per_channel("normalize", std, size.channels, image));
}

Variable erase(const Variable& image, std::int64_t i, std::int64_t j, std::int64_t h, std::int64_t w,
               const Variable& value) {
  const ImageSize size = size_of("erase", image);
  EBB_CHECK(i >= 0 && j >= 0 && h >= 0 && w >= 0 && i + h <= size.height && j + w <= size.width, "erase: [",
            i, ", ", i + h, ") x [", j, ", ", j + w, ") does not lie within ", image, ".");
  Variable copy = image.clone();
  copy.narrow(-2, i, h).narrow(-1, j, w).copy_(value);
  return copy;
}

Variable gaussian_blur(const Variable& image, IntArrayRef kernel_size, ArrayRef<double> sigma) {
  const ImageSize size = size_of("gaussian_blur", image);
  EBB_CHECK(kernel_size.size() == 1 || kernel_size.size() == 2,
            "gaussian_blur: expected a kernel_size of 1 or 2 values, got ", kernel_size, ".");
  EBB_CHECK(sigma.size() <= 2, "gaussian_blur: expected a sigma of up to 2 values.");
  const std::int64_t across = kernel_size.front(), down = kernel_size.back();
  EBB_CHECK(across > 0 && across % 2 == 1 && down > 0 && down % 2 == 1,
            "gaussian_blur: kernel_size must be odd and positive, got ", kernel_size, ".");
  const auto of_size = [](std::int64_t n) { return 0.15 * static_cast<double>(n) + 0.35; };
  const double sigma_x = sigma.empty() ? of_size(across) : sigma.front(),
               sigma_y = sigma.empty() ? of_size(down) : sigma.back();
  EBB_CHECK(sigma_x > 0 && sigma_y > 0, "gaussian_blur: sigma must be positive, got ", sigma_x, " and ",
            sigma_y, ".");
  if (image.numel() == 0) return image;
  return in_floating(image, [&](const Variable& floating) {
    const TensorOptions options = floating.options();
    const Variable kernel =
        gaussian(down, sigma_y, options).unsqueeze(1).mul(gaussian(across, sigma_x, options));
    return of_batch(floating, [&](const Variable& batch) {
      const Variable padded = reflection_pad2d(batch, {across / 2, across / 2, down / 2, down / 2});
      return conv2d(padded, kernel.expand({size.channels, 1, down, across}), {}, {1, 1}, {0, 0}, {1, 1},
                    size.channels);
    });
  });
}

}  // namespace ebb::vision::transforms::functional
