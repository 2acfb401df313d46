// Chart: the layout of axes, curves, points, bars and the legend.
#include "watch/drawing/chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ebb::watch::drawing {
namespace {

// The colors of Okabe and Ito, which also color-blind people tell apart, and two more.
constexpr std::uint32_t kColors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                     0xe69f00, 0x56b4e9, 0x6a3d9a, 0x444444};
constexpr std::uint32_t kGrid = 0xdddddd, kWhite = 0xffffff, kBlack = 0;
constexpr std::size_t kFewPoints = 30;  // a curve of so many points has markers

// Returns the middle of a pixel, where a thin line is sharp.
double crisp(double at) { return std::floor(at) + 0.5; }

// Returns as many ticks as have labels that do not touch.
std::vector<Tick> ticks_along(const Axis& axis) {
  for (std::size_t most = 8;; --most) {
    std::vector<Tick> ticks = axis.ticks(most);
    bool touch = false;
    for (std::size_t i = 1; i < ticks.size(); ++i)
      touch |=
          lettering_of(ticks[i - 1].label + ticks[i].label).width / 2 + 10 > ticks[i].at - ticks[i - 1].at;
    if (!touch || most == 1) return ticks;
  }
}

class Layout {
 public:
  Layout(Canvas& canvas, const Chart& chart, Point corner)
      : canvas_(canvas),
        chart_(chart),
        corner_{corner.x + kEdge, corner.y + kEdge},
        across_(chart.logarithmic_x, false),
        up_(chart.logarithmic_y, !chart.categories.empty()) {
    for (const Series& s : chart.series)
      for (std::size_t i = 0; i < s.x.size(); ++i)
        if (across_.shows(s.x[i]) && up_.shows(s.y[i])) {
          across_.include(s.x[i]);
          up_.include(s.y[i]);
        }
    if (chart.categories.empty()) return;
    across_.include(-0.5);
    across_.include(static_cast<double>(chart.categories.size()) - 0.5);
  }

  // Draws the y axis, which sets the left margin, and the texts above.
  void draw_up() {
    const double above = (chart_.title.empty() ? 0 : kTitleHeight) + (chart_.y_label.empty() ? 0 : 20);
    top_ = crisp(corner_.y + above);
    bottom_ = top_ + std::floor(chart_.height);
    up_.place(bottom_, top_, 0.04);
    const std::vector<Tick> ticks = up_.ticks(static_cast<std::size_t>(chart_.height / 45) + 2);
    double longest = 0;
    for (const Tick& tick : ticks) longest = std::max(longest, lettering_of(tick.label).width);
    left_ = crisp(corner_.x + longest + 8);
    right_ = left_ + std::floor(chart_.width);
    far_ = std::max(right_, corner_.x + lettering_of(chart_.y_label).width);
    for (const Tick& tick : ticks) {
      canvas_.strokes({{{left_, crisp(tick.at)}, {right_, crisp(tick.at)}}}, kGrid);
      canvas_.text(tick.label, {left_ - 6, tick.at + 4}, Align::end);
    }
    canvas_.text(chart_.y_label, {corner_.x, top_ - 12}, Align::start);
    centered(chart_.title, (left_ + right_) / 2, corner_.y + 12, kTitleSize);
  }

  // Draws the x axis, and the texts below.
  void draw_across() {
    const bool is_log = chart_.logarithmic_x;
    across_.place(left_, right_, chart_.categories.empty() ? 0.02 : 0);
    below_ = bottom_ + 18;
    if (chart_.categories.empty())
      for (const Tick& tick : ticks_along(across_)) {
        const double x = crisp(tick.at);
        canvas_.strokes({{{x, bottom_}, {x, is_log ? top_ : bottom_ + 4}}}, is_log ? kGrid : kBlack);
        centered(tick.label, tick.at, below_);
      }
    else
      draw_categories();
    if (!chart_.x_label.empty()) centered(chart_.x_label, (left_ + right_) / 2, below_ += 20);
  }

  void draw_series(bool has_legend) {
    Point row{right_ + 16, top_ + 8};  // the legend
    for (std::size_t k = 0; k < chart_.series.size(); ++k) {
      const Series& series = chart_.series[k];
      const bool is_named = has_legend && !series.name.empty();
      const Polyline sample = is_named ? Polyline{row, {row.x + 24, row.y}} : Polyline{};
      const std::uint32_t color = kColors[k % std::size(kColors)];
      switch (series.kind) {
        case Series::Kind::line:
          line(series, color, static_cast<int>(k / std::size(kColors)), sample);
          break;
        case Series::Kind::points:
          points(series, color, sample);
          break;
        case Series::Kind::bars:
          bars(series, color, sample);
          break;
      }
      if (!is_named) continue;
      canvas_.text(series.name, {row.x + 32, row.y + 4}, Align::start);
      far_ = std::max(far_, row.x + 32 + lettering_of(series.name).width);
      row.y += kRowHeight;
    }
    below_ = std::max(below_, row.y - kRowHeight);
    const double base = chart_.categories.empty() ? bottom_ : up_.ground();
    canvas_.strokes({{{left_, top_}, {left_, bottom_}}, {{left_, base}, {right_, base}}}, kBlack);
  }

  // Returns the far corner.
  Point end() const { return {std::ceil(far_ + kEdge), std::ceil(below_ + kEdge)}; }

 private:
  // Writes a text around x, or as near as the left edge permits.
  void centered(const std::string& text, double x, double y, double size = kFontSize) {
    const double half = lettering_of(text, size).width / 2;
    x = std::max(x, corner_.x + half);
    canvas_.text(text, {x, y}, Align::middle, kBlack, false, size);
    far_ = std::max(far_, x + half);
  }

  // Writes the labels of bars, upward if they are long, and not all if they are many.
  void draw_categories() {
    const double step = across_.at(1) - across_.at(0), longest = widest(chart_.categories);
    const bool upward = longest + 8 > step;
    const auto stride = static_cast<std::size_t>(upward ? std::ceil(14 / step) : 1);
    for (std::size_t i = 0; i < chart_.categories.size(); i += stride) {
      const double x = across_.at(static_cast<double>(i));
      if (upward)
        canvas_.text(chart_.categories[i], {x + 4, bottom_ + 6}, Align::end, kBlack, true);
      else
        centered(chart_.categories[i], x, below_);
    }
    if (upward) below_ = bottom_ + 6 + longest;
  }

  void line(const Series& series, std::uint32_t color, int reuse, const Polyline& sample) {
    std::vector<Polyline> pieces = pieces_of(series, across_, up_);
    Polyline marked;
    for (Polyline& piece : pieces) {
      if (series.x.size() <= kFewPoints || piece.size() == 1)
        marked.insert(marked.end(), piece.begin(), piece.end());
      piece = thinned(piece);
    }
    // The curves below show in the gaps. A color that is used again is dashed too.
    const auto hidden = std::count_if(curves_.begin(), curves_.end(),
                                      [&](const auto& earlier) { return hides(pieces, earlier); });
    curves_.push_back(pieces);
    if (!sample.empty()) pieces.push_back(sample);
    if (!sample.empty() && !marked.empty()) marked.push_back(middle(sample));
    const double dash = std::ldexp(kDashPeriod, -static_cast<int>(hidden) - reuse);
    canvas_.strokes(dash < kDashPeriod ? dashed(pieces, dash) : pieces, color, 1.75);
    canvas_.strokes(markers_at(marked, 0), color, hidden > 0 ? 4 : 6);
  }

  void points(const Series& series, std::uint32_t color, const Polyline& sample) {
    Polyline all;
    for (const Polyline& piece : pieces_of(series, across_, up_))
      all.insert(all.end(), piece.begin(), piece.end());
    if (!sample.empty()) all.push_back(middle(sample));
    const std::size_t shape = scatters_++;
    const double width = shape % kMarkerShapes == 0 ? 6 : 1.75;
    const std::vector<Polyline> markers = markers_at(all, shape);
    canvas_.strokes(markers, kWhite, width + 1.5);  // an edge that sets markers off from a curve
    canvas_.strokes(markers, color, width);
  }

  void bars(const Series& series, std::uint32_t color, const Polyline& sample) {
    const auto all = std::count_if(chart_.series.begin(), chart_.series.end(),
                                   [](const Series& s) { return s.kind == Series::Kind::bars; });
    const double width = 0.8 * (across_.at(1) - across_.at(0)) / static_cast<double>(all);
    const double shift = (groups_++ - 0.5 * static_cast<double>(all)) * width;
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (!up_.shows(series.y[i])) continue;
      const auto [high, low] = std::minmax({up_.at(series.y[i]), up_.ground()});
      const double left = across_.at(series.x[i]) + shift;
      canvas_.box({left, high}, {left + width, low}, color);
    }
    if (!sample.empty())
      canvas_.box({middle(sample).x - 6, sample[0].y - 6}, {middle(sample).x + 6, sample[0].y + 6}, color);
  }

  static Point middle(const Polyline& sample) { return {(sample[0].x + sample[1].x) / 2, sample[0].y}; }

  Canvas& canvas_;
  const Chart& chart_;
  Point corner_;  // inside of the edge
  Axis across_, up_;
  double top_ = 0, bottom_ = 0, left_ = 0, right_ = 0;  // the area between the axes
  double far_ = 0, below_ = 0;                          // the ends of what is drawn
  std::vector<std::vector<Polyline>> curves_;
  std::size_t scatters_ = 0;
  double groups_ = 0;
};

}  // namespace

Point Chart::draw(Canvas& canvas, Point corner, bool has_legend) const {
  Layout layout(canvas, *this, corner);
  layout.draw_up();
  layout.draw_across();
  layout.draw_series(has_legend);
  const Point end = layout.end();
  return {end.x - corner.x, end.y - corner.y};
}

}  // namespace ebb::watch::drawing
