// Image functions: results of torchvision, errors, make_grid, other integers and 16-bit floats.
#include <ebb/vision.h>

#include "goldens.h"
#include "support/catch.h"
#include "support/compare.h"

#include <functional>
#include <limits>

// Image functions: results of torchvision, and errors.

using namespace ebb;
namespace F = ebb::vision::transforms::functional;
using support::Contains;
using vision::transforms::InterpolationMode;
using vision::transforms::PaddingMode;

namespace {

// The function for each golden result, which exists for byte and float images.
const std::vector<std::pair<std::string, std::function<Variable(const Variable&)>>>& functions() {
  using V = const Variable&;
  static const std::vector<std::pair<std::string, std::function<Variable(V)>>> all = {
      {"resize_down", [](V x) { return F::resize(x, {4, 5}); }},
      {"resize_shorter",
       [](V x) { return F::resize(x.narrow(-2, 0, 5), 4, InterpolationMode::bilinear, 6); }},
      {"resize_up_plain",
       [](V x) { return F::resize(x, {9, 8}, InterpolationMode::bilinear, nullopt, false); }},
      {"resize_bicubic", [](V x) { return F::resize(x, {4, 7}, InterpolationMode::bicubic); }},
      {"resize_nearest", [](V x) { return F::resize(x, {5, 4}, InterpolationMode::nearest); }},
      {"resize_exact", [](V x) { return F::resize(x, {5, 4}, InterpolationMode::nearest_exact); }},
      {"crop_outside", [](V x) { return F::crop(x, -2, 6, 5, 5); }},
      {"center_crop", [](V x) { return F::center_crop(x, {6, 4}); }},
      {"center_crop_larger", [](V x) { return F::center_crop(x, {8, 6}); }},
      {"resized_crop", [](V x) { return F::resized_crop(x, 1, 2, 5, 6, {3, 4}); }},
      {"pad_fill", [](V x) { return F::pad(x, {1, 2}, {1, 0, 1}); }},
      {"pad_edge", [](V x) { return F::pad(x, {1, 0, 2, 1}, {}, PaddingMode::edge); }},
      {"pad_reflect", [](V x) { return F::pad(x, {1, 0, 2, 1}, {}, PaddingMode::reflect); }},
      {"pad_symmetric", [](V x) { return F::pad(x, {1, 0, 2, 1}, {}, PaddingMode::symmetric); }},
      {"rotate", [](V x) { return F::rotate(x, 33); }},
      {"rotate_expand",
       [](V x) { return F::rotate(x, 33, InterpolationMode::bilinear, true, nullopt, {0.5}); }},
      {"rotate_quarter", [](V x) { return F::rotate(x, -90, InterpolationMode::nearest, true); }},
      {"rotate_center",
       [](V x) { return F::rotate(x, 20, InterpolationMode::nearest, false, {{2, 1}}, {1, 0, 0.5}); }},
      {"affine", [](V x) { return F::affine(x, 17, {1, -2}, 0.8, {11, 5}, InterpolationMode::bilinear); }},
      {"gray", [](V x) { return F::rgb_to_grayscale(x); }},
      {"brightness", [](V x) { return F::adjust_brightness(x, 1.4); }},
      {"contrast", [](V x) { return F::adjust_contrast(x, 1.7); }},
      {"contrast_gray", [](V x) { return F::adjust_contrast(x.narrow(0, 0, 1), 0.4); }},
      {"saturation", [](V x) { return F::adjust_saturation(x, 0.3); }},
      {"hue", [](V x) { return F::adjust_hue(x, -0.3); }},
      {"gamma", [](V x) { return F::adjust_gamma(x, 0.6, 1.2); }},
      {"invert", F::invert},
      {"solarize", [](V x) { return F::solarize(x, x.dtype() == kByte ? 128 : 0.5); }},
      {"posterize", [](V x) { return F::posterize(x, 3); }},
      {"autocontrast", [](V x) { return F::autocontrast(F::adjust_brightness(x, 0.5)); }},
      {"blur", [](V x) { return F::gaussian_blur(x, {3, 5}, {0.8, 1.3}); }},
      {"blur_default", [](V x) { return F::gaussian_blur(x, 5); }},
  };
  return all;
}

}  // namespace

TEST_CASE("image functions on float images give the results of torchvision") {
  for (const auto& [name, f] : functions()) {
    INFO(name);
    check_close(f(golden("image.float")), golden("float." + name), 1e-5);
  }
}

TEST_CASE("image functions on byte images give the results of torchvision up to rounding") {
  for (const auto& [name, f] : functions()) {
    INFO(name);
    check_close(f(golden("image.byte")), golden("byte." + name), name.starts_with("resize") ? 1 : 0);
  }
}

TEST_CASE("image functions accept any leading batch dimensions") {
  const Variable& image = golden("image.float");
  const Variable batch = stack({image, image.flip({-1})}).unsqueeze(1);  // [2, 1, 3, H, W]
  for (const auto& [name, f] : functions()) {
    if (name == "contrast_gray") continue;  // the function slices the first dimension
    INFO(name);
    const Variable out = f(batch);
    check_close(out[0][0], f(image), 1e-6);
    check_close(out[1][0], f(image.flip({-1})), 1e-6);
  }
}

TEST_CASE("to_dtype and normalize and equalize and erase give known values") {
  const Variable& byte = golden("image.byte");
  const Variable floating = F::to_dtype(byte, kFloat, true);
  check_close(floating, golden("image.float"), 1e-7);
  CHECK(equal(F::to_dtype(floating, kByte, true), byte));
  CHECK(equal(F::to_dtype(F::to_dtype(byte, kShort, true), kByte, true), byte));
  CHECK(F::to_dtype(byte, kFloat).max().item<float>() == byte.max().item<float>());
  CHECK_THROWS_WITH(F::to_dtype(floating, kLong, true), Contains("less precision"));
  check_close(F::to_dtype(byte.to(kFloat).div(300), kByte, true), golden("byte.from_float"), 0);

  check_close(F::normalize(floating, {0.4, 0.5, 0.6}, {0.2, 0.3, 0.25}), golden("float.normalize"), 1e-5);
  CHECK_THROWS_WITH(F::normalize(byte, {0.5}, {0.5}), Contains("to_dtype"));
  CHECK_THROWS_WITH(F::normalize(floating, {0.5}, {0.0}), Contains("divide by zero"));
  CHECK_THROWS_WITH(F::normalize(floating, {0.5, 0.5}, {0.5}), Contains("each of 3 channels"));

  const Variable y = arange(24).unsqueeze(1), x = arange(32);
  const Variable gray =
      (x * 37 + y * 23 + x * y * 5).remainder(256).floor_divide(3).add(40).to(kByte).unsqueeze(0);
  gray[0][0][0].fill_(255);
  check_close(F::equalize(gray), golden("byte.equalize"), 0);
  CHECK(equal(F::equalize(byte.narrow(-1, 0, 3)), byte.narrow(-1, 0, 3)));  // too few pixels to equalize

  const Variable erased = F::erase(byte, 1, 2, 3, 4, tensor(9));
  CHECK(erased.narrow(1, 1, 3).narrow(2, 2, 4).eq(9).all().item<bool>());
  CHECK(erased.ne(byte).sum().item<std::int64_t>() <= 3 * 3 * 4);
  CHECK_THROWS_WITH(F::erase(byte, 5, 2, 3, 4, tensor(9)), Contains("does not lie within"));
}

TEST_CASE("resize to the same size returns the image, crop returns a view, and two flips equal a rotation") {
  const Variable& image = golden("image.byte");
  CHECK(F::resize(image, {7, 9}).is_same(image));
  CHECK(F::crop(image, 1, 1, 3, 3).is_alias_of(image));
  CHECK(equal(F::hflip(F::hflip(image)), image));
  CHECK(equal(F::hflip(F::vflip(image)), F::rotate(image, 180)));
}

TEST_CASE("image functions are differentiable") {
  const Variable image = golden("image.float").to(kDouble).narrow(1, 0, 4).narrow(2, 0, 4).clone();
  for (const auto& f : std::vector<std::function<Variable(const Variable&)>>{
           [](const Variable& x) { return F::resize(x, {3, 2}); },
           [](const Variable& x) { return F::rotate(x, 20, InterpolationMode::bilinear); },
           [](const Variable& x) { return F::normalize(x, {0.3}, {0.2}); },
           [](const Variable& x) { return F::gaussian_blur(x, 3); }})
    CHECK(gradcheck([&](TensorList in) { return std::vector<Variable>{f(in[0])}; },
                    {image.detach().clone().requires_grad_()}));
}

TEST_CASE("image functions refuse tensors that are not images") {
  const Variable matrix = zeros({4, 4}), two = zeros({2, 4, 4}), image = zeros({3, 4, 4});
  CHECK_THROWS_WITH(F::resize(matrix, 2), Contains("resize: expected an image [..., C, H, W]"));
  CHECK_THROWS_WITH(F::resize(image, {2, 2, 2}), Contains("{height, width}"));
  CHECK_THROWS_WITH(F::resize(image, {2, 2}, InterpolationMode::bilinear, 4), Contains("max_size"));
  CHECK_THROWS_WITH(F::resize(image, 0), Contains("positive"));
  CHECK_THROWS_WITH(F::adjust_hue(two, 0.1), Contains("1 or 3 channels"));
  CHECK_THROWS_WITH(F::adjust_hue(image, 0.6), Contains("-0.5 to 0.5"));
  CHECK_THROWS_WITH(F::adjust_brightness(image, -1), Contains("not negative"));
  CHECK_THROWS_WITH(F::pad(image, {1, 2, 3}), Contains("1, 2 or 4 values"));
  CHECK_THROWS_WITH(F::pad(image, 1, {1, 2}), Contains("3 channels"));
  CHECK_THROWS_WITH(F::pad(image, 5, {}, PaddingMode::symmetric), Contains("at most the image's 4 pixels"));
  CHECK_THROWS_WITH(F::rotate(image, 10, InterpolationMode::bicubic), Contains("nearest or bilinear"));
  CHECK_THROWS_WITH(F::gaussian_blur(image, 4), Contains("odd"));
  CHECK_THROWS_WITH(F::posterize(image, 9), Contains("0 to 8"));
  CHECK_THROWS_WITH(F::solarize(image, 2), Contains("above the largest"));
}

// make_grid, and image functions for integers wider than a byte and for 16-bit floats.

namespace F = ebb::vision::transforms::functional;
using support::Saying;

TEST_CASE("make_grid places images in a grid with padding and converts gray images to RGB") {
  struct Case {
    std::int64_t n, channels, columns, padding;
  };
  for (const auto& [n, channels, columns, padding] :
       {Case{5, 3, 2, 1}, Case{3, 1, 8, 2}, Case{4, 1, 4, 0}, Case{2, 4, 1, 3}}) {
    INFO(n << " images in " << columns << " columns");
    const Tensor images = arange(n * channels * 6).reshape({n, channels, 2, 3}).to(kShort);
    const Tensor grid = vision::make_grid(images, columns, padding, -7);
    const std::int64_t across = std::min(columns, n), down = (n + across - 1) / across;
    const std::int64_t height = down * (2 + padding) + padding, width = across * (3 + padding) + padding;
    const std::int64_t colors = channels == 1 ? 3 : channels;
    CHECK(grid.dtype() == kShort);
    REQUIRE(grid.sizes() == IntArrayRef({colors, height, width}));
    std::vector<double> expected;
    for (std::int64_t c = 0; c < colors; ++c)
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x) {
          const std::int64_t row = y / (2 + padding), column = x / (3 + padding);
          const std::int64_t in_y = y % (2 + padding) - padding, in_x = x % (3 + padding) - padding;
          const std::int64_t image = row * across + column;
          const bool inside = in_y >= 0 && in_x >= 0 && column < across && image < n;
          const std::int64_t channel = image * channels + (channels == 1 ? 0 : c);
          expected.push_back(inside ? static_cast<double>((channel * 2 + in_y) * 3 + in_x) : -7);
        }
    support::require_close(grid, expected);
  }
  const Tensor one = rand({2, 3});
  CHECK(equal(vision::make_grid(one), vision::make_grid(one.unsqueeze(0).unsqueeze(0), 8, 2, 0)));
  CHECK_THROWS_MATCHES(vision::make_grid(ones({3})), Error,
                       Saying("make_grid: images must be [N, C, H, W], [C, H, W] or [H, W], got shape [3]"));
  CHECK_THROWS_MATCHES(vision::make_grid(one, 0, 1), Error,
                       Saying("make_grid: columns must be positive and padding not negative, got 0 and 1"));
}

TEST_CASE("invert subtracts each element of a kLong image from the largest int64 value") {
  const Tensor image = tensor({0L, 1L, 5L, std::numeric_limits<std::int64_t>::max()}).reshape({1, 2, 2});
  const Tensor inverted = F::invert(image);
  CHECK(equal(inverted + image, full_like(image, std::numeric_limits<std::int64_t>::max())));
  CHECK(inverted.min().item<std::int64_t>() == 0);
}

TEMPLATE_TEST_CASE("invert and adjust_brightness of signed integer images use the largest value of the dtype",
                   "", std::int8_t, std::int16_t, std::int32_t) {
  constexpr auto most = static_cast<double>(std::numeric_limits<TestType>::max());
  const DType dtype = dtype_of<TestType>();
  const std::vector<double> values = {0, 1, 5, most - 1, most, 100};
  const Tensor image = tensor(values, kDouble).to(dtype).reshape({1, 2, 3});
  const Tensor inverted = F::invert(image);
  CHECK(inverted.dtype() == dtype);
  std::vector<double> expected;
  for (const double value : values) expected.push_back(most - value);
  support::require_close(inverted, expected);
  if (sizeof(TestType) == 4) return;  // Float cannot represent the largest int32
  expected.clear();
  for (const double value : values) expected.push_back(std::min(value * 2, most));
  support::require_close(F::adjust_brightness(image, 2), expected);
}

TEST_CASE("resize of integer and 16-bit images computes in Float and rounds only integers") {
  const std::vector<double> values = {0, 3, 6, 10, 20, 20, 21, 22};
  for (const DType dtype : {kShort, kInt, kHalf, kBFloat16}) {
    INFO(dtype);
    const Tensor image = tensor(values, kDouble).to(dtype).reshape({2, 2, 2});
    const Tensor mean = F::resize(image, {1, 1});
    CHECK(mean.dtype() == dtype);
    const bool integral = dtype == kShort || dtype == kInt;
    support::require_close(mean, integral ? std::vector<double>{5, 21} : std::vector<double>{4.75, 20.75});
  }
}
