// Figure::State: a chart, or a function that draws another figure.
#pragma once

#include <ebb/watch/figure.h>

#include "watch/drawing/chart.h"

#include <functional>

namespace ebb::watch {

struct Figure::State {
  drawing::Chart chart;
  /// Draws what is no chart, and returns its size.
  std::function<drawing::Point(drawing::Canvas& canvas, drawing::Point corner)> picture = {};

  drawing::Point draw(drawing::Canvas& canvas, drawing::Point corner, bool has_legend = true) const {
    return picture ? picture(canvas, corner) : chart.draw(canvas, corner, has_legend);
  }
};

}  // namespace ebb::watch
