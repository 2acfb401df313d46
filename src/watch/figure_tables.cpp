// Figure: confusion tables, grids of images, and panels.
#include <ebb/ebb.h>
#include <ebb/vision/grid.h>

#include "watch/figure_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ebb::watch {

using drawing::Canvas;
using drawing::Point;
using drawing::Table;

namespace {

// Returns the bytes of values in [0, 1]. NaN becomes 0.
Variable bytes_of(const Variable& values) {
  return (values.to(kDouble).nan_to_num(0).clamp(0, 1) * 255).round().to(kByte);
}

// Repeats each pixel in both directions.
Variable enlarged(const Variable& images, std::int64_t factor) {
  return images.repeat_interleave(factor, -2).repeat_interleave(factor, -1).contiguous();
}

void check_labels(const char* function, const char* items, std::int64_t n,
                  const std::vector<std::string>& labels) {
  EBB_CHECK(labels.empty() || static_cast<std::int64_t>(labels.size()) == n, function, ": ", n, " ", items,
            " have ", labels.size(), " labels. Give as many, or none.");
}

}  // namespace

Figure Figure::from_table(drawing::Table&& table) {
  Figure figure(table.title);
  figure.state_->picture = [table = std::move(table)](Canvas& canvas, Point corner) {
    return table.draw(canvas, corner);
  };
  return figure;
}

Figure Figure::confusion_table(std::string title, const Variable& counts,
                               const std::vector<std::string>& labels) {
  EBB_CHECK(counts.defined() && counts.dim() == 2 && counts.size(0) == counts.size(1) && counts.numel() > 0 &&
                !counts.is_complex(),
            "Figure::confusion_table: counts must be [n, n] for n classes, got ", counts, ".");
  const std::int64_t n = counts.size(0);
  check_labels("Figure::confusion_table", "classes", n, labels);
  const Variable table = counts.detach().to(kCPU, kDouble).contiguous();
  EBB_CHECK(table.isfinite().logical_and(table.ge(0)).all().item<bool>(),
            "Figure::confusion_table: counts must be finite and not negative, got a minimum of ",
            table.min().item<double>(), ".");

  std::vector<std::string> texts;
  const auto* const values = table.data_ptr<double>();
  for (std::int64_t i = 0; i < n * n; ++i)
    texts.push_back(std::floor(values[i]) == values[i] ? fmt::format("{:.0f}", values[i])
                                                       : fmt::format("{:.2g}", values[i]));
  double cell = std::max(std::ceil(drawing::widest(texts)) + 12,
                         std::clamp(std::ceil(drawing::widest(labels)) + 10, 28.0, 60.0));
  if (cell * static_cast<double>(n) > 1000) {  // the numbers would be too small
    texts.clear();
    cell = std::max(1.0, std::floor(600 / static_cast<double>(n)));
  }
  // The colors go from white to a dark blue.
  const Variable share = table / table.sum(1, true).clamp_min(1e-300);
  const Variable image = stack({1 - share, 1 - share * 0.7, 1 - share * 0.4});
  const Variable cells = enlarged(bytes_of(image), static_cast<std::int64_t>(cell));
  return from_table({std::move(title), cells, cell, cell, labels, labels, "true", "predicted", texts});
}

Figure Figure::image_grid(std::string title, const Variable& images, std::int64_t columns,
                          const std::vector<std::string>& row_labels,
                          const std::vector<std::string>& column_labels) {
  EBB_CHECK(
      images.defined() && images.dim() == 4 && images.numel() > 0 &&
          (images.size(1) == 1 || images.size(1) == 3 || images.size(1) == 4) &&
          (images.dtype() == kByte || images.is_floating_point()),
      "Figure::image_grid: images must be [n, channels, height, width] of Byte or floating, with 1, 3 or 4 "
      "channels, got ",
      images, ".");
  EBB_CHECK(columns > 0, "Figure::image_grid: columns must be positive, got ", columns, ".");
  const std::int64_t n = images.size(0), rows = (n + columns - 1) / columns;
  check_labels("Figure::image_grid", "rows", rows, row_labels);
  check_labels("Figure::image_grid", "columns", std::min(columns, n), column_labels);

  Variable values = images.detach().to(kCPU);
  values = values.dtype() == kByte ? values.to(kDouble) / 255 : values.to(kDouble);
  if (values.size(1) == 4) {  // on a white ground
    const Variable alpha = values.narrow(1, 3, 1).clamp(0, 1);
    values = values.narrow(1, 0, 3) * alpha + (1 - alpha);
  }
  const std::int64_t side = std::max(images.size(2), images.size(3)), factor = (47 + side) / side;
  const Variable image = vision::make_grid(enlarged(bytes_of(values), factor), columns, 2, 255).contiguous();
  const auto step = [&](std::int64_t dim) { return static_cast<double>(images.size(dim) * factor + 2); };
  return from_table({std::move(title), image, step(2), step(3), row_labels, column_labels});
}

Figure Figure::panels(std::string title, const std::vector<Figure>& figures, std::int64_t columns) {
  EBB_CHECK(columns > 0, "Figure::panels: columns must be positive, got ", columns, ".");
  Figure result(std::move(title));
  result.state_->picture = [title = result.state_->chart.title, figures,
                            across = static_cast<std::size_t>(columns)](Canvas& canvas, Point corner) {
    const auto legend = [&](std::size_t i) {
      std::vector<std::string> names;
      for (const drawing::Series& series : figures[i].state_->chart.series) names.push_back(series.name);
      return names;
    };
    const double title_width = drawing::lettering_of(title, drawing::kTitleSize).width + 2 * drawing::kEdge;
    Point end{corner.x + title_width,
              corner.y + (title.empty() ? 0 : drawing::kEdge + drawing::kTitleHeight)};
    Point at{corner.x, end.y};
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const bool is_last = (i + 1) % across == 0 || i + 1 == figures.size();
      const bool has_legend = is_last || legend(i) != legend(i + 1);
      const Point size = figures[i].state_->draw(canvas, at, has_legend);
      end = {std::max(end.x, at.x + size.x), std::max(end.y, at.y + size.y)};
      at = is_last ? Point{corner.x, end.y} : Point{at.x + size.x, at.y};
    }
    canvas.text(title, {(corner.x + end.x) / 2, corner.y + drawing::kEdge + 12}, drawing::Align::middle, 0,
                false, drawing::kTitleSize);
    return Point{end.x - corner.x, end.y - corner.y};
  };
  return result;
}

}  // namespace ebb::watch
