// Chart: curves, points and bars between two axes.
#pragma once

#include "watch/drawing/axis.h"
#include "watch/drawing/canvas.h"

#include <memory>

namespace ebb::watch::drawing {

struct Series {
  enum class Kind { line, points, bars } kind;
  std::string name;
  std::vector<double> x, y;
};

/// The content of a figure.
struct Chart {
  std::string title, x_label, y_label;
  double width = 550, height = 310;  // between the axes
  std::vector<std::shared_ptr<const Series>> series = {};
  std::vector<std::string> categories = {};  // the labels of the bars
  bool logarithmic_x = false, logarithmic_y = false;
  std::shared_ptr<const Canvas> picture = {};  // a finished drawing in place of a chart

  Canvas drawn(bool has_legend = true) const;
};

/// Writes names along x, above or below a place: upward if they are long, and not all if they are many.
void write_names(Canvas& canvas, const std::vector<std::string>& names, Point first, double step, bool above);
/// Writes a title above all that is drawn, around x.
void write_title(Canvas& canvas, const std::string& title, double x);

}  // namespace ebb::watch::drawing
