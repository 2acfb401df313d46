// Figure: charts, confusion tables, grids of images, panels, and the outputs.
#include <ebb/ebb.h>
#include <ebb/vision/grid.h>
#include <ebb/vision/image_io.h>
#include <ebb/watch/figure.h>

#include "io/atomic_file.h"
#include "watch/drawing/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace ebb::watch {

using drawing::Align;
using drawing::Canvas;
using drawing::Chart;
using drawing::Point;
using drawing::Series;

namespace {

using Labels = std::vector<std::string>;

std::vector<double> positions(std::size_t n) {
  std::vector<double> result(n);
  std::iota(result.begin(), result.end(), 0.0);
  return result;
}

// Returns the bytes of values in [0, 1], each pixel `factor` times in both directions. NaN becomes 0.
Variable enlarged(const Variable& values, std::int64_t factor) {
  const Variable bytes = (values.to(kDouble).nan_to_num(0).clamp(0, 1) * 255).round().to(kByte);
  return bytes.repeat_interleave(factor, -2).repeat_interleave(factor, -1).contiguous();
}

void check_labels(const char* function, const char* items, std::int64_t n, const Labels& labels) {
  EBB_CHECK(labels.empty() || static_cast<std::int64_t>(labels.size()) == n, function, ": ", n, " ", items,
            " have ", labels.size(), " labels. Give as many, or none.");
}

// Returns an image with the names of its rows and columns, whose first cell has its middle at `first`. Not
// all names are written if they are closer than lines of text.
Canvas table(const Variable& image, Point first, Point step, const Labels& rows, const Labels& columns) {
  Canvas canvas;
  canvas.image(image, {0, 0});
  for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(std::ceil(14 / step.y)))
    canvas.text(rows[i], {-8, first.y + static_cast<double>(i) * step.y + 4}, Align::end);
  drawing::write_names(canvas, columns, {first.x, 0}, step.x, true);
  return canvas;
}

}  // namespace

Figure::Figure(std::string title, std::string x_label, std::string y_label)
    : chart_(new Chart{std::move(title), std::move(x_label), std::move(y_label)}) {}

// Copies of a figure share their content until one of them changes.
Chart& Figure::changed(const char* method) {
  EBB_CHECK(!chart_->picture, method, ": \"", chart_->title,
            "\" is a table, a grid of images or panels, and has no axes. Call it on a chart: Figure(title).");
  chart_ = std::make_shared<Chart>(*chart_);
  return *chart_;
}

Figure& Figure::add(const char* method, Series&& series) {
  EBB_CHECK(series.x.size() == series.y.size(), method, ": \"", series.name, "\" has ", series.x.size(),
            " positions and ", series.y.size(), " values. Give one of each for every point.");
  changed(method).series.push_back(std::make_shared<Series>(std::move(series)));
  return *this;
}

Figure& Figure::line(const std::string& name, const std::vector<double>& y) {
  return line(name, positions(y.size()), y);
}
Figure& Figure::line(const std::string& name, const std::vector<double>& x, const std::vector<double>& y) {
  return add("Figure::line", {Series::Kind::line, name, x, y});
}
Figure& Figure::points(const std::string& name, const std::vector<double>& x, const std::vector<double>& y) {
  return add("Figure::points", {Series::Kind::points, name, x, y});
}

Figure& Figure::bars(const std::string& name, const Labels& labels, const std::vector<double>& values) {
  const Labels& before = chart_->categories;
  EBB_CHECK(!labels.empty(), "Figure::bars: \"", name, "\" has no labels. Give at least one bar.");
  EBB_CHECK(before.empty() || before == labels, "Figure::bars: the labels of \"", name,
            "\" are not those of the bars before it. Bars in one figure have the same labels.");
  add("Figure::bars", {Series::Kind::bars, name, positions(labels.size()), values});
  chart_->categories = labels;
  return *this;
}

Figure& Figure::logarithmic_x() {
  changed("Figure::logarithmic_x").logarithmic_x = true;
  return *this;
}
Figure& Figure::logarithmic_y() {
  changed("Figure::logarithmic_y").logarithmic_y = true;
  return *this;
}
Figure& Figure::size(double width, double height) {
  EBB_CHECK(width >= 50 && width <= 10000 && height >= 50 && height <= 10000, "Figure::size: the axes are ",
            width, " x ", height, " units long. Give lengths from 50 to 10000.");
  Chart& chart = changed("Figure::size");
  chart.width = width;
  chart.height = height;
  return *this;
}

Figure::Figure(std::string title, drawing::Canvas&& canvas, double middle) : Figure(std::move(title)) {
  drawing::write_title(canvas, chart_->title, middle);
  chart_->picture = std::make_shared<Canvas>(std::move(canvas));
}

Figure Figure::confusion_table(std::string title, const Variable& counts, const Labels& labels) {
  EBB_CHECK(counts.defined() && counts.dim() == 2 && counts.size(0) == counts.size(1) && counts.numel() > 0 &&
                !counts.is_complex(),
            "Figure::confusion_table: counts must be [n, n] for n classes, got ", counts, ".");
  const std::int64_t n = counts.size(0);
  check_labels("Figure::confusion_table", "classes", n, labels);
  const Variable values = counts.detach().to(kCPU, kDouble).contiguous();
  EBB_CHECK(values.isfinite().logical_and(values.ge(0)).all().item<bool>(),
            "Figure::confusion_table: counts must be finite and not negative, got a minimum of ",
            values.min().item<double>(), ".");

  Labels texts;  // of at most 35 x 35 cells, because a cell is at least 28 units wide
  for (std::int64_t i = 0; n <= 35 && i < n * n; ++i) {
    const double value = values.data_ptr<double>()[i];
    texts.push_back(std::floor(value) == value ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value));
  }
  double cell = std::max(std::ceil(drawing::widest(texts)) + 12,
                         std::clamp(std::ceil(drawing::widest(labels)) + 10, 28.0, 60.0));
  if (cell * static_cast<double>(n) > 1000) {  // the numbers would be too small
    texts.clear();
    cell = std::max(1.0, std::floor(600 / static_cast<double>(n)));
  }
  // The colors go from white to a dark blue.
  const Variable share = values / values.sum(1, true).clamp_min(1e-300);
  const Variable image = stack({1 - share, 1 - share * 0.7, 1 - share * 0.4});
  const double width = cell * static_cast<double>(n);
  Canvas canvas = table(enlarged(image, static_cast<std::int64_t>(cell)), {cell / 2, cell / 2}, {cell, cell},
                        labels, labels);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto [y, x] = std::div(static_cast<std::int64_t>(i), n);
    canvas.text(texts[i], {(static_cast<double>(x) + 0.5) * cell, (static_cast<double>(y) + 0.5) * cell + 4},
                Align::middle, share.data_ptr<double>()[i] > 0.5 ? 0xffffff : 0);
  }
  canvas.text("true", {-8, -6}, Align::end);
  canvas.text("predicted", {width / 2, canvas.low().y - 8}, Align::middle);
  return Figure(std::move(title), std::move(canvas), width / 2);
}

Figure Figure::image_grid(std::string title, const Variable& images, std::int64_t columns,
                          const Labels& row_labels, const Labels& column_labels) {
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
  const Variable image = vision::make_grid(enlarged(values, factor), columns, 2, 255).contiguous();
  const auto step = [&](std::int64_t dim) { return static_cast<double>(images.size(dim) * factor + 2); };
  return Figure(
      std::move(title),
      table(image, {step(3) / 2 + 1, step(2) / 2 + 1}, {step(3), step(2)}, row_labels, column_labels),
      static_cast<double>(image.size(2)) / 2);
}

Figure Figure::panels(std::string title, const std::vector<Figure>& figures, std::int64_t columns) {
  EBB_CHECK(columns > 0, "Figure::panels: columns must be positive, got ", columns, ".");
  const auto legend = [&](std::size_t i) {
    Labels names;
    for (const auto& series : figures[i].chart_->series) names.push_back(series->name);
    return names;
  };
  Canvas canvas;
  Point at{0, 0}, end{0, 0};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const bool is_last = (i + 1) % static_cast<std::size_t>(columns) == 0 || i + 1 == figures.size();
    const Canvas panel = figures[i].chart_->drawn(is_last || legend(i) != legend(i + 1));
    canvas.canvas(panel, at);
    end = {std::max(end.x, at.x + panel.size().x), std::max(end.y, at.y + panel.size().y)};
    at = is_last ? Point{0, end.y} : Point{at.x + panel.size().x, at.y};
  }
  return Figure(std::move(title), std::move(canvas), end.x / 2);
}

std::string Figure::svg() const { return chart_->drawn().svg(chart_->title); }

Variable Figure::pixels(double scale) const { return chart_->drawn().pixels(scale); }

void Figure::write(const std::string& path, double scale) const {
  const bool is_png = path.ends_with(".png");
  EBB_CHECK(is_png || path.ends_with(".svg"), "Figure::write: \"", path,
            "\" is not the name of a figure. Choose a name that ends with .svg or .png.");
  if (is_png) return vision::write_png(pixels(scale), path);
  const std::string text = svg();
  io::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace ebb::watch
