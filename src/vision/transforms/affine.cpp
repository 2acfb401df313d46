// affine and rotate: rotation, scaling, shear and translation of images.
#include <ebb/ebb.h>
#include <ebb/vision/transforms/geometry.h>

#include "vision/transforms/image.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ebb::vision::transforms::functional {
namespace {

using Point = std::array<double, 2>;
using Matrix = std::array<double, 6>;  // two rows of three

constexpr double radians(double degrees) { return degrees * std::numbers::pi / 180; }

// Returns the matrix from output pixels to input pixels, relative to the middle of the image: the inverse of
// T C R S H C^-1 with translation T, centre C, rotation R, scale S and shear H.
Matrix inverse_affine(Point center, double angle, Point translate, double scale, Point shear) {
  const double turn = radians(angle), shear_x = radians(shear[0]), shear_y = radians(shear[1]);
  const double a = std::cos(turn - shear_y) / std::cos(shear_y),
               b = -(a * std::tan(shear_x) + std::sin(turn)),
               c = std::sin(turn - shear_y) / std::cos(shear_y), d = std::cos(turn) - c * std::tan(shear_x);
  // a d - b c = 1, as for every rotation and shear.
  Matrix m = {d / scale, -b / scale, 0, -c / scale, a / scale, 0};
  const double x = center[0] + translate[0], y = center[1] + translate[1];
  m[2] = center[0] - m[0] * x - m[1] * y;
  m[5] = center[1] - m[3] * x - m[4] * y;
  return m;
}

Point from_middle(const optional<Point>& center, const ImageSize& size) {
  if (!center) return {0, 0};
  return {(*center)[0] - static_cast<double>(size.width) / 2,
          (*center)[1] - static_cast<double>(size.height) / 2};
}

struct Area {
  std::int64_t height, width;
};

// Returns the number of pixels that [least, most] overlaps by at least 1e-4, computed in float as in
// torchvision.
std::int64_t pixels_between(float least, float most) {
  const auto cut = [](float x) { return std::trunc(x * 1e4F) * 1e-4F; };
  return static_cast<std::int64_t>(std::ceil(cut(most)) - std::floor(cut(least)));
}

// Returns the area that contains the whole rotated image.
Area expanded(const Matrix& m, const ImageSize& size) {
  const auto half_width = static_cast<float>(size.width) / 2,
             half_height = static_cast<float>(size.height) / 2;
  std::array<float, 4> xs{}, ys{};
  for (std::size_t corner = 0; corner < 4; ++corner) {
    const float x = corner % 2 == 0 ? -half_width : half_width, y = corner < 2 ? -half_height : half_height;
    const auto at = [&](std::size_t row) {
      return x * static_cast<float>(m[row]) + y * static_cast<float>(m[row + 1]) +
             static_cast<float>(m[row + 2]);
    };
    xs[corner] = at(0) + half_width;
    ys[corner] = at(3) + half_height;
  }
  const auto [left, right] = std::minmax_element(xs.begin(), xs.end());
  const auto [top, bottom] = std::minmax_element(ys.begin(), ys.end());
  return {pixels_between(*top, *bottom), pixels_between(*left, *right)};
}

// Returns the input points of an output of area `to`, in the coordinates of grid_sampler, -1 to 1.
Variable grid_of(const Matrix& m, const ImageSize& from, Area to, const TensorOptions& options) {
  const auto centers = [&](std::int64_t n) {
    const double end = static_cast<double>(n - 1) / 2;
    return linspace(-end, end, n, options);
  };
  const Variable x = centers(to.width).expand({to.height, to.width}),
                 y = centers(to.height).unsqueeze(1).expand({to.height, to.width});
  const double half_width = static_cast<double>(from.width) / 2,
               half_height = static_cast<double>(from.height) / 2;
  const Variable theta = tensor(ArrayRef<double>(m), options)
                             .reshape({2, 3})
                             .transpose(0, 1)
                             .div(tensor({half_width, half_height}, options));
  return stack({x, y, ones_like(x)}, -1).reshape({-1, 3}).matmul(theta).reshape({1, to.height, to.width, 2});
}

// Samples the image at the grid. Points outside the image get the fill value. Points at the border get a
// mixture of image and fill value.
Variable sampled(const Variable& image, const Variable& grid, bool bilinear, ArrayRef<double> fill) {
  return of_batch(image, [&](const Variable& batch) {
    const Variable points = grid.expand({batch.size(0), -1, -1, -1});
    const auto read = [&](const Variable& x) { return grid_sampler(x, points, bilinear ? 0 : 1, 0, false); };
    if (fill.empty()) return read(batch);
    const std::int64_t channels = batch.size(1);
    const Variable both = read(cat({batch, ones_like(batch.narrow(1, 0, 1))}, 1));
    const Variable inside = both.narrow(1, channels, 1), values = both.narrow(1, 0, channels);
    const Variable color = tensor(fill, batch.options()).reshape({-1, 1, 1});
    return bilinear ? values.sub(color).mul(inside).add(color) : where(inside.lt(0.5), color, values);
  });
}

Variable moved(std::string_view what, const Variable& image, const Matrix& m, bool expand,
               InterpolationMode interpolation, ArrayRef<double> fill) {
  const ImageSize size = size_of(what, image);
  EBB_CHECK(interpolation == InterpolationMode::nearest || interpolation == InterpolationMode::bilinear, what,
            ": interpolation must be nearest or bilinear.");
  EBB_CHECK(fill.size() <= 1 || static_cast<std::int64_t>(fill.size()) == size.channels, what,
            ": expected a fill of one value or one for each of ", size.channels, " channels, got ",
            static_cast<std::uint64_t>(fill.size()), ".");
  if (image.numel() == 0) return image;
  const Area to = expand ? expanded(m, size) : Area{size.height, size.width};
  return in_floating(image, [&](const Variable& floating) {
    return sampled(floating, grid_of(m, size, to, floating.options()),
                   interpolation == InterpolationMode::bilinear, fill);
  });
}

}  // namespace

Variable rotate(const Variable& image, double angle, InterpolationMode interpolation, bool expand,
                optional<Point> center, ArrayRef<double> fill) {
  const ImageSize size = size_of("rotate", image);
  const double turn = angle - 360 * std::floor(angle / 360);
  if (!center) {  // multiples of 90 degrees need no interpolation
    if (turn == 0) return image.clone();
    if (turn == 180) return image.rot90(2, {-2, -1});
    if ((expand || size.height == size.width) && (turn == 90 || turn == 270))
      return image.rot90(turn == 90 ? 1 : 3, {-2, -1});
  }
  const Matrix m = inverse_affine(from_middle(center, size), -turn, {0, 0}, 1, {0, 0});
  return moved("rotate", image, m, expand, interpolation, fill);
}

Variable affine(const Variable& image, double angle, Point translate, double scale, Point shear,
                InterpolationMode interpolation, ArrayRef<double> fill, optional<Point> center) {
  EBB_CHECK(scale > 0, "affine: scale must be positive, got ", scale, ".");
  const Point middle = from_middle(center, size_of("affine", image));
  return moved("affine", image, inverse_affine(middle, angle, translate, scale, shear), false, interpolation,
               fill);
}

}  // namespace ebb::vision::transforms::functional
