// Canvas: an antialiasing rasteriser. The part of a pixel that a stroke covers follows from the distance of
// the pixel's centre from the stroke's middle line.
#include <ebb/ebb.h>
#include <ebb/vision/image_io.h>

#include "watch/drawing/canvas.h"

#include <algorithm>
#include <cmath>

namespace ebb::watch::drawing {
namespace {

struct Raster {
  std::int64_t height, width;
  Variable pixels = full({3, height, width}, 255, kByte);
  // The part of each pixel that the strokes of one shape cover.
  std::vector<float> covers = std::vector<float>(static_cast<std::size_t>(height * width));

  // Covers the pixels that are at most the radius away from a segment.
  void stroke(Point a, Point b, double radius) {
    const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy, reach = radius + 0.5;
    if (square > 1000) {  // most pixels of the rectangle around a long segment are far away
      const Point middle{a.x + dx / 2, a.y + dy / 2};
      stroke(a, middle, radius);
      return stroke(middle, b, radius);
    }
    const Point low{std::min(a.x, b.x) - reach, std::min(a.y, b.y) - reach};
    const Point high{std::max(a.x, b.x) + reach, std::max(a.y, b.y) + reach};
    visit(low, high, [&](std::int64_t y, std::int64_t x, float& cover) {
      const double u = static_cast<double>(x) + 0.5 - a.x, v = static_cast<double>(y) + 0.5 - a.y;
      const double t = square == 0 ? 0 : std::clamp((u * dx + v * dy) / square, 0.0, 1.0);
      const double distance = std::hypot(u - t * dx, v - t * dy);
      cover =
          std::max(cover, static_cast<float>(std::clamp(reach - distance, 0.0, std::min(1.0, 2 * radius))));
    });
  }

  // Mixes the color into the covered pixels between two points, or into all, and clears the cover.
  void blend(Point low, Point high, std::uint32_t color, bool all) {
    auto* const bytes = pixels.data_ptr<std::uint8_t>();
    visit(low, high, [&](std::int64_t y, std::int64_t x, float& cover) {
      const float part = all ? 1 : std::exchange(cover, 0.0F);
      for (int c = 0; part > 0 && c < 3; ++c) {
        std::uint8_t& pixel = bytes[(c * height + y) * width + x];
        const auto wanted = static_cast<float>(color >> (16 - 8 * c) & 255);
        pixel =
            static_cast<std::uint8_t>(std::lround(static_cast<float>(pixel) * (1 - part) + wanted * part));
      }
    });
  }

  // Calls f for each pixel that has a part between two points.
  template <class F>
  void visit(Point low, Point high, const F& f) {
    const auto inside = [](double at, std::int64_t size) {
      return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(size)));
    };
    const std::int64_t right = inside(std::ceil(high.x), width), bottom = inside(std::ceil(high.y), height);
    for (std::int64_t y = inside(std::floor(low.y), height); y < bottom; ++y)
      for (std::int64_t x = inside(std::floor(low.x), width); x < right; ++x)
        f(y, x, covers[static_cast<std::size_t>(y * width + x)]);
  }
};

}  // namespace

Variable Canvas::pixels(double scale) const {
  const double height = std::ceil(size().y * scale), width = std::ceil(size().x * scale);
  EBB_CHECK(scale > 0 && height * width <= static_cast<double>(vision::kMaxImagePixels),
            "Figure: a figure of ", size().x, " x ", size().y, " units has no picture at a scale of ", scale,
            ". Use a positive scale that gives at most ", vision::kMaxImagePixels, " pixels.");
  Raster raster{static_cast<std::int64_t>(height), static_cast<std::int64_t>(width)};
  const auto placed = [&](Point p, double dx = 0, double dy = 0) {
    return Point{(p.x - corner().x + dx) * scale, (p.y - corner().y + dy) * scale};
  };
  for (const Shape& shape : shapes_) {
    for (const Polyline& line : shape.lines)
      for (std::size_t i = line.size() > 1 ? 1 : 0; i < line.size(); ++i)
        raster.stroke(placed(line[i > 0 ? i - 1 : 0]), placed(line[i]), shape.width * scale / 2);
    const double edge = shape.lines.empty() ? 0 : 1 / scale;  // of antialiasing
    if (!shape.image.defined())
      raster.blend(placed(shape.low, -edge, -edge), placed(shape.high, edge, edge), shape.color, edge == 0);
    else {
      const auto* rgb = shape.image.data_ptr<std::uint8_t>();
      for (std::int64_t i = 0; 3 * i < shape.image.numel(); ++i, rgb += 3) {
        const auto y = static_cast<double>(i / shape.image.size(1)),
                   x = static_cast<double>(i % shape.image.size(1));
        raster.blend(placed(shape.low, x, y), placed(shape.low, x + 1, y + 1),
                     static_cast<std::uint32_t>(rgb[0] << 16 | rgb[1] << 8 | rgb[2]), true);
      }
    }
  }
  return raster.pixels;
}

}  // namespace ebb::watch::drawing
