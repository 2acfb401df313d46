// Canvas: collects strokes, boxes, texts and images, and writes them as SVG or as pixels.
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

/// A drawing that grows in all directions, so that nothing is cut. Texts give it a white margin.
class Canvas {
 public:
  /// Draws polylines with round ends; a polyline of one point is a disc. `color` is 0xRRGGBB.
  void strokes(const std::vector<Polyline>& lines, std::uint32_t color, double width = 1);
  void box(Point from, Point to, std::uint32_t color);
  /// Writes UTF-8 text, whose baseline contains `at`, to the right or upward.
  void text(const std::string& text, Point at, Align align, std::uint32_t color = 0, bool upward = false,
            double size = kFontSize);
  /// Draws Byte [3, height, width] with its corner at `at`, one unit for a pixel.
  void image(const Variable& image, Point at);
  /// Draws another canvas with the corner of its margin at `at`.
  void canvas(const Canvas& other, Point at);

  /// Returns the least and the greatest coordinates of what is drawn.
  Point low() const { return shapes_.empty() ? Point{0, 0} : low_; }
  Point high() const { return shapes_.empty() ? Point{0, 0} : high_; }
  /// Returns the upper left corner and the size with the margin, in whole units.
  Point corner() const;
  Point size() const;

  std::string svg(const std::string& title) const;
  /// Returns Byte [3, height, width], with `scale` pixels for a unit.
  Variable pixels(double scale) const;

 private:
  struct Shape {
    Point low, high;  // the corners
    std::uint32_t color;
    std::vector<Polyline> lines = {};  // if there are none and no image, the shape is a box
    double width = 0;
    Variable image = {};
  };
  void add(Shape&& shape, const std::string& element);

  std::string elements_;  // of the SVG
  std::vector<Shape> shapes_;
  Point low_{1e9, 1e9}, high_{-1e9, -1e9};
  double margin_ = 0;
};

/// Returns an upper bound of the width in common sans-serif fonts.
double width_of(const std::string& text, double size = kFontSize);
double widest(const std::vector<std::string>& texts);

}  // namespace ebb::watch::drawing
