// Grids of images, and functions of images of integers wider than a byte and of 16-bit floats.
#include <ebb/vision.h>

#include <limits>

#include "support/catch.h"
#include "support/compare.h"

using namespace ebb;
namespace F = ebb::vision::transforms::functional;
using support::Saying;

TEST_CASE("make_grid puts images side by side, with padding around each, grey ones as RGB") {
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
  CHECK_THROWS_MATCHES(
      vision::make_grid(ones({3})), Error,
      Saying("make_grid: images must be [N, C, H, W], [C, H, W] or [H, W], not of shape [3]"));
  CHECK_THROWS_MATCHES(vision::make_grid(one, 0, 1), Error,
                       Saying("make_grid: columns must be positive and padding not negative, not 0 and 1"));
}

TEST_CASE("an image of kLong is inverted to its largest value less it") {
  const Tensor image = tensor({0L, 1L, 5L, std::numeric_limits<std::int64_t>::max()}).reshape({1, 2, 2});
  const Tensor inverted = F::invert(image);
  CHECK(equal(inverted + image, full_like(image, std::numeric_limits<std::int64_t>::max())));
  CHECK(inverted.min().item<std::int64_t>() == 0);
}

TEMPLATE_TEST_CASE("images of signed integers are inverted and made brighter up to their largest value", "",
                   std::int8_t, std::int16_t, std::int32_t) {
  constexpr auto most = static_cast<double>(std::numeric_limits<TestType>::max());
  const DType dtype = dtype_of<TestType>();
  const std::vector<double> values = {0, 1, 5, most - 1, most, 100};
  const Tensor image = tensor(values, kDouble).to(dtype).reshape({1, 2, 3});
  const Tensor inverted = F::invert(image);
  CHECK(inverted.dtype() == dtype);
  std::vector<double> expected;
  for (const double value : values) expected.push_back(most - value);
  support::require_close(inverted, expected);
  if (sizeof(TestType) == 4) return;  // whose largest value a Float does not hold
  expected.clear();
  for (const double value : values) expected.push_back(std::min(value * 2, most));
  support::require_close(F::adjust_brightness(image, 2), expected);
}

TEST_CASE("resize of other dtypes computes in Float: integers are rounded, 16-bit floats are not") {
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
