// Canvas: strokes, boxes, texts and images, drawn as SVG or as pixels.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ebb::watch::drawing {

/// A point or a size, in units of which a screen shows one as a pixel. y points down.
struct Point {
  double x, y;
};
using Polyline = std::vector<Point>;

/// The part of a text that is before its point.
enum class Align { start, middle, end };

inline constexpr double kFontSize = 12;

class Canvas {
 public:
  /// Begins an SVG element.
  Canvas() = default;
  /// Begins a white picture with `scale` pixels for a unit.
  Canvas(Point size, double scale);

  /// Draws polylines with round ends; a polyline of one point is a disc. `color` is 0xRRGGBB.
  void strokes(const std::vector<Polyline>& lines, std::uint32_t color, double width = 1);
  void box(Point from, Point to, std::uint32_t color);
  /// Writes UTF-8 text, whose baseline contains `at`, to the right or upward.
  void text(const std::string& text, Point at, Align align, std::uint32_t color = 0, bool upward = false,
            double size = kFontSize);
  /// Draws Byte [3, height, width] with its corner at `at`, one unit for a pixel.
  void image(const Variable& image, Point at);

  std::string svg(Point size, const std::string& title) const;
  /// Returns Byte [3, height, width].
  const Variable& pixels() const { return pixels_; }

 private:
  struct Area;
  Area area(Point low, Point high) const;
  float& cover(std::int64_t x, std::int64_t y) { return cover_[static_cast<std::size_t>(y * width_ + x)]; }
  void segment(Point a, Point b, double radius);
  void raster(const std::vector<Polyline>& lines, std::uint32_t color, double width);
  void raster(Point from, Point to, std::uint32_t color);
  void blend(const Area& area, std::uint32_t color);

  std::string elements_;
  double scale_ = 0;  // 0 for SVG
  std::int64_t width_ = 0, height_ = 0;
  Variable pixels_;
  std::vector<float> cover_;  // the part of each pixel that the strokes of one call cover
};

struct Lettering {
  std::vector<Polyline> lines;  // from x = 0, with the baseline at y = 0
  double width = 0;             // an upper bound for common sans-serif fonts
};
Lettering lettering_of(const std::string& text, double size = kFontSize);
double widest(const std::vector<std::string>& texts);

}  // namespace ebb::watch::drawing
