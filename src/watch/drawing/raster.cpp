// Canvas: an antialiasing rasteriser. The part of a pixel that a stroke covers follows from the distance of
// the pixel's centre from the stroke's middle line.
#include <ebb/ebb.h>
#include <ebb/vision/image_io.h>

#include "watch/drawing/canvas.h"

#include <algorithm>
#include <cmath>

namespace ebb::watch::drawing {

struct Canvas::Area {
  std::int64_t left, top, right, bottom;  // right and bottom are the first pixels outside
};

Canvas::Canvas(Point size, double scale) : scale_(scale) {
  const double width = std::ceil(size.x * scale), height = std::ceil(size.y * scale);
  EBB_CHECK(scale > 0 && width * height <= static_cast<double>(vision::kMaxImagePixels),
            "Figure: a figure of ", size.x, " x ", size.y, " units has no picture at a scale of ", scale,
            ". Use a positive scale that gives at most ", vision::kMaxImagePixels, " pixels.");
  width_ = static_cast<std::int64_t>(width);
  height_ = static_cast<std::int64_t>(height);
  pixels_ = full({3, height_, width_}, 255, kByte);
  cover_.resize(static_cast<std::size_t>(height_ * width_));
}

void Canvas::raster(const std::vector<Polyline>& lines, std::uint32_t color, double width) {
  const double radius = width * scale_ / 2, reach = radius + 1;
  Point low{1e9, 1e9}, high{-1e9, -1e9}, last{};
  for (const Polyline& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) {
      const Point p{line[i].x * scale_, line[i].y * scale_};
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
      if (i > 0 || line.size() == 1) segment(i > 0 ? last : p, p, radius);
      last = p;
    }
  blend(area({low.x - reach, low.y - reach}, {high.x + reach, high.y + reach}), color);
}

void Canvas::raster(Point from, Point to, std::uint32_t color) {
  const Area box = area({from.x * scale_, from.y * scale_}, {to.x * scale_, to.y * scale_});
  for (std::int64_t y = box.top; y < box.bottom; ++y)
    for (std::int64_t x = box.left; x < box.right; ++x) cover(x, y) = 1;
  blend(box, color);
}

Canvas::Area Canvas::area(Point low, Point high) const {
  const auto inside = [](double at, std::int64_t size) {
    return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(size)));
  };
  return {inside(std::floor(low.x), width_), inside(std::floor(low.y), height_),
          inside(std::ceil(high.x), width_), inside(std::ceil(high.y), height_)};
}

// Covers the pixels that are at most the radius away from a segment.
void Canvas::segment(Point a, Point b, double radius) {
  const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy, reach = radius + 0.5;
  const Area rows = area({0, std::min(a.y, b.y) - reach}, {0, std::max(a.y, b.y) + reach});
  for (std::int64_t y = rows.top; y < rows.bottom; ++y) {
    const double v = static_cast<double>(y) + 0.5 - a.y;
    // Only the part of the segment that is near this row can cover its pixels.
    const double first = dy == 0 ? 0 : std::clamp((v - reach) / dy, 0.0, 1.0),
                 last = dy == 0 ? 1 : std::clamp((v + reach) / dy, 0.0, 1.0);
    const auto [low, high] = std::minmax({a.x + first * dx, a.x + last * dx});
    const Area columns = area({low - reach, 0}, {high + reach, 0});
    for (std::int64_t x = columns.left; x < columns.right; ++x) {
      const double u = static_cast<double>(x) + 0.5 - a.x;
      const double t = square == 0 ? 0 : std::clamp((u * dx + v * dy) / square, 0.0, 1.0);
      const double distance = std::hypot(u - t * dx, v - t * dy);
      const double part = std::clamp(reach - distance, 0.0, std::min(1.0, 2 * radius));
      cover(x, y) = std::max(cover(x, y), static_cast<float>(part));
    }
  }
}

// Mixes the color into the covered pixels, and clears their coverage.
void Canvas::blend(const Area& area, std::uint32_t color) {
  auto* const red = pixels_.data_ptr<std::uint8_t>();
  for (std::int64_t y = area.top; y < area.bottom; ++y)
    for (std::int64_t x = area.left; x < area.right; ++x) {
      const float part = std::exchange(cover(x, y), 0.0F);
      for (int c = 0; part > 0 && c < 3; ++c) {
        std::uint8_t& pixel = red[(c * height_ + y) * width_ + x];
        const auto wanted = static_cast<float>(color >> (16 - 8 * c) & 255);
        pixel =
            static_cast<std::uint8_t>(std::lround(static_cast<float>(pixel) * (1 - part) + wanted * part));
      }
    }
}

}  // namespace ebb::watch::drawing
