// Functions of images: torchvision's numbers, and errors.
#include <ebb/vision.h>

#include <functional>

#include "goldens.h"

using namespace ebb;
namespace F = ebb::vision::transforms::functional;
using support::Contains;
using vision::transforms::InterpolationMode;
using vision::transforms::PaddingMode;

namespace {

// The function of each golden that there is in bytes and in floats.
const std::vector<std::pair<std::string, std::function<Variable(const Variable&)>>>& functions() {
  using V = const Variable&;
  static const std::vector<std::pair<std::string, std::function<Variable(V)>>> all = {
      {"resize_down",
       [](V x) {
         return F::resize(x, {4, 5});
       }},
      {"resize_shorter",
       [](V x) { return F::resize(x.narrow(-2, 0, 5), 4, InterpolationMode::bilinear, 6); }},
      {"resize_up_plain",
       [](V x) {
         return F::resize(x, {9, 8}, InterpolationMode::bilinear, nullopt, false);
       }},
      {"resize_bicubic",
       [](V x) {
         return F::resize(x, {4, 7}, InterpolationMode::bicubic);
       }},
      {"resize_nearest",
       [](V x) {
         return F::resize(x, {5, 4}, InterpolationMode::nearest);
       }},
      {"resize_exact",
       [](V x) {
         return F::resize(x, {5, 4}, InterpolationMode::nearest_exact);
       }},
      {"crop_outside", [](V x) { return F::crop(x, -2, 6, 5, 5); }},
      {"center_crop",
       [](V x) {
         return F::center_crop(x, {6, 4});
       }},
      {"center_crop_larger",
       [](V x) {
         return F::center_crop(x, {8, 6});
       }},
      {"resized_crop",
       [](V x) {
         return F::resized_crop(x, 1, 2, 5, 6, {3, 4});
       }},
      {"pad_fill",
       [](V x) {
         return F::pad(x, {1, 2}, {1, 0, 1});
       }},
      {"pad_edge",
       [](V x) {
         return F::pad(x, {1, 0, 2, 1}, {}, PaddingMode::edge);
       }},
      {"pad_reflect",
       [](V x) {
         return F::pad(x, {1, 0, 2, 1}, {}, PaddingMode::reflect);
       }},
      {"pad_symmetric",
       [](V x) {
         return F::pad(x, {1, 0, 2, 1}, {}, PaddingMode::symmetric);
       }},
      {"rotate", [](V x) { return F::rotate(x, 33); }},
      {"rotate_expand",
       [](V x) { return F::rotate(x, 33, InterpolationMode::bilinear, true, nullopt, {0.5}); }},
      {"rotate_quarter", [](V x) { return F::rotate(x, -90, InterpolationMode::nearest, true); }},
      {"rotate_center",
       [](V x) {
         return F::rotate(x, 20, InterpolationMode::nearest, false, {{2, 1}}, {1, 0, 0.5});
       }},
      {"affine",
       [](V x) {
         return F::affine(x, 17, {1, -2}, 0.8, {11, 5}, InterpolationMode::bilinear);
       }},
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
      {"blur",
       [](V x) {
         return F::gaussian_blur(x, {3, 5}, {0.8, 1.3});
       }},
      {"blur_default", [](V x) { return F::gaussian_blur(x, 5); }},
  };
  return all;
}

}  // namespace

TEST_CASE("functions of floating images have torchvision's numbers") {
  for (const auto& [name, f] : functions()) {
    INFO(name);
    check_close(f(golden("image.float")), golden("float." + name), 1e-5);
  }
}

TEST_CASE("functions of images of bytes have torchvision's numbers, but for a rounding") {
  for (const auto& [name, f] : functions()) {
    INFO(name);
    check_close(f(golden("image.byte")), golden("byte." + name), name.starts_with("resize") ? 1 : 0);
  }
}

TEST_CASE("what stands before the channels is treated alike") {
  const Variable& image = golden("image.float");
  const Variable batch = stack({image, image.flip({-1})}).unsqueeze(1);  // [2, 1, 3, H, W]
  for (const auto& [name, f] : functions()) {
    if (name == "contrast_gray") continue;  // cuts the first dimension
    INFO(name);
    const Variable out = f(batch);
    check_close(out[0][0], f(image), 1e-6);
    check_close(out[1][0], f(image.flip({-1})), 1e-6);
  }
}

TEST_CASE("numbers of images: dtypes, normalization, equalization, erasing") {
  const Variable& byte = golden("image.byte");
  const Variable floating = F::to_dtype(byte, kFloat, true);
  check_close(floating, golden("image.float"), 1e-7);
  CHECK(equal(F::to_dtype(floating, kByte, true), byte));
  CHECK(equal(F::to_dtype(F::to_dtype(byte, kShort, true), kByte, true), byte));
  CHECK(F::to_dtype(byte, kFloat).max().item<float>() == byte.max().item<float>());
  CHECK_THROWS_WITH(F::to_dtype(floating, kLong, true), Contains("fewer digits"));
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
  CHECK(equal(F::equalize(byte.narrow(-1, 0, 3)), byte.narrow(-1, 0, 3)));  // too few pixels to spread

  const Variable erased = F::erase(byte, 1, 2, 3, 4, tensor(9));
  CHECK(erased.narrow(1, 1, 3).narrow(2, 2, 4).eq(9).all().item<bool>());
  CHECK(erased.ne(byte).sum().item<std::int64_t>() <= 3 * 3 * 4);
  CHECK_THROWS_WITH(F::erase(byte, 5, 2, 3, 4, tensor(9)), Contains("does not lie within"));
}

TEST_CASE("sizes that need no arithmetic are views") {
  const Variable& image = golden("image.byte");
  CHECK(F::resize(image, {7, 9}).is_same(image));
  CHECK(F::crop(image, 1, 1, 3, 3).is_alias_of(image));
  CHECK(equal(F::hflip(F::hflip(image)), image));
  CHECK(equal(F::hflip(F::vflip(image)), F::rotate(image, 180)));
}

TEST_CASE("functions of images are differentiable") {
  const Variable image = golden("image.float").to(kDouble).narrow(1, 0, 4).narrow(2, 0, 4).clone();
  for (const auto& f : std::vector<std::function<Variable(const Variable&)>>{
           [](const Variable& x) {
             return F::resize(x, {3, 2});
           },
           [](const Variable& x) { return F::rotate(x, 20, InterpolationMode::bilinear); },
           [](const Variable& x) { return F::normalize(x, {0.3}, {0.2}); },
           [](const Variable& x) { return F::gaussian_blur(x, 3); }})
    CHECK(gradcheck([&](TensorList in) { return std::vector<Variable>{f(in[0])}; },
                    {image.detach().clone().requires_grad_()}));
}

TEST_CASE("functions of images refuse what is none") {
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
