// Figure: the methods of charts, and the outputs.
#include <ebb/ebb.h>
#include <ebb/vision/image_io.h>

#include "io/atomic_file.h"
#include "watch/figure_state.h"

#include <numeric>

namespace ebb::watch {
namespace {

std::vector<double> positions(std::size_t n) {
  std::vector<double> result(n);
  std::iota(result.begin(), result.end(), 0.0);
  return result;
}

}  // namespace

using drawing::Canvas;
using drawing::Point;
using drawing::Series;

Figure::Figure(std::string title, std::string x_label, std::string y_label)
    : state_(new State{{std::move(title), std::move(x_label), std::move(y_label)}}) {}
Figure::Figure(const Figure& other) : state_(new State(*other.state_)) {}
Figure::Figure(Figure&&) noexcept = default;
Figure& Figure::operator=(const Figure& other) { return *this = Figure(other); }
Figure& Figure::operator=(Figure&&) noexcept = default;
Figure::~Figure() = default;

drawing::Chart& Figure::chart(const char* method) {
  EBB_CHECK(!state_->picture, method, ": \"", state_->chart.title,
            "\" is a table, a grid of images or panels, and has no axes. Call it on a chart: Figure(title).");
  return state_->chart;
}

Figure& Figure::add(const char* method, drawing::Series&& series) {
  EBB_CHECK(series.x.size() == series.y.size(), method, ": \"", series.name, "\" has ", series.x.size(),
            " positions and ", series.y.size(), " values. Give one of each for every point.");
  chart(method).series.push_back(std::move(series));
  return *this;
}

Figure& Figure::line(const std::string& name, const std::vector<double>& y) {
  return add("Figure::line", {Series::Kind::line, name, positions(y.size()), y});
}
Figure& Figure::line(const std::string& name, const std::vector<double>& x, const std::vector<double>& y) {
  return add("Figure::line", {Series::Kind::line, name, x, y});
}
Figure& Figure::points(const std::string& name, const std::vector<double>& x, const std::vector<double>& y) {
  return add("Figure::points", {Series::Kind::points, name, x, y});
}

Figure& Figure::bars(const std::string& name, const std::vector<std::string>& labels,
                     const std::vector<double>& values) {
  std::vector<std::string>& categories = state_->chart.categories;
  EBB_CHECK(!labels.empty(), "Figure::bars: \"", name, "\" has no labels. Give at least one bar.");
  EBB_CHECK(categories.empty() || categories == labels, "Figure::bars: the labels of \"", name,
            "\" are not those of the bars before it. Bars in one figure have the same labels.");
  add("Figure::bars", {Series::Kind::bars, name, positions(labels.size()), values});
  categories = labels;
  return *this;
}

Figure& Figure::logarithmic_x() {
  chart("Figure::logarithmic_x").logarithmic_x = true;
  return *this;
}
Figure& Figure::logarithmic_y() {
  chart("Figure::logarithmic_y").logarithmic_y = true;
  return *this;
}
Figure& Figure::size(double width, double height) {
  EBB_CHECK(width >= 50 && width <= 10000 && height >= 50 && height <= 10000, "Figure::size: the axes are ",
            width, " x ", height, " units long. Give lengths from 50 to 10000.");
  chart("Figure::size").width = width;
  state_->chart.height = height;
  return *this;
}

std::string Figure::svg() const {
  Canvas canvas;
  const Point size = state_->draw(canvas, {0, 0});
  return canvas.svg(size, state_->chart.title);
}

Variable Figure::pixels(double scale) const {
  Canvas trial;  // the size is known after the layout
  Canvas canvas(state_->draw(trial, {0, 0}), scale);
  state_->draw(canvas, {0, 0});
  return canvas.pixels();
}

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
