// Chart: curves, points and bars between two axes. Table: an image whose cells are in labelled rows and
// columns.
#pragma once

#include "watch/drawing/axis.h"
#include "watch/drawing/canvas.h"

namespace ebb::watch::drawing {

inline constexpr double kEdge = 10, kTitleSize = 15;  // the margin around a figure, and the size of its title
inline constexpr double kDashPeriod = 16;
inline constexpr std::size_t kMarkerShapes = 5;
inline constexpr double kTitleHeight = 24, kRowHeight = 18;

struct Series {
  enum class Kind { line, points, bars } kind;
  std::string name;
  std::vector<double> x, y;
};

struct Chart {
  std::string title, x_label, y_label;
  double width = 550, height = 310;  // between the axes
  std::vector<Series> series = {};
  std::vector<std::string> categories = {};  // the labels of the bars
  bool logarithmic_x = false, logarithmic_y = false;

  /// Draws the chart with its corner at `corner`, and returns its size.
  Point draw(Canvas& canvas, Point corner, bool has_legend) const;
};

struct Table {
  std::string title;
  Variable image;      // Byte [3, height, width]
  double row, column;  // the height of a row and the width of a column
  std::vector<std::string> row_labels, column_labels;
  std::string rows_label = {}, columns_label = {};
  std::vector<std::string> texts = {};  // one for each cell, or none

  Point draw(Canvas& canvas, Point corner) const;
};

/// Returns the polylines of a curve, which values without a position interrupt.
std::vector<Polyline> pieces_of(const Series& series, const Axis& across, const Axis& up);
/// Keeps the first, the lowest, the highest and the last of the points in a half pixel column, which looks
/// the same.
Polyline thinned(const Polyline& line);
/// Returns whether the curve `later` hides four fifths of the points of `earlier`.
bool hides(const std::vector<Polyline>& later, const std::vector<Polyline>& earlier);
/// Divides polylines into dashes of a length, one in every kDashPeriod units.
std::vector<Polyline> dashed(const std::vector<Polyline>& lines, double length);
/// Returns the strokes of a marker of one of several shapes at each point. Shape 0 is a disc.
std::vector<Polyline> markers_at(const Polyline& points, std::size_t shape);

}  // namespace ebb::watch::drawing
