// Chart: the geometry of curves, and the layout of axes, curves, points, bars and the legend.
#include "watch/drawing/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

namespace ebb::watch::drawing {
namespace {

// The colors of Okabe and Ito, which also color-blind people tell apart, and two more.
constexpr std::uint32_t kColors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                     0xe69f00, 0x56b4e9, 0x6a3d9a, 0x444444};
constexpr std::uint32_t kGrid = 0xdddddd, kWhite = 0xffffff, kBlack = 0;
constexpr std::size_t kFewPoints = 30;  // a curve of so many points has markers
constexpr double kDashPeriod = 16;
constexpr std::size_t kMarkerShapes = 5;

// Returns the middle of a pixel, where a thin line is sharp.
double crisp(double at) { return std::floor(at) + 0.5; }

// Finds the first of the points in each half pixel. The others would look the same.
struct HalfPixels {
  std::set<std::pair<double, double>> places = {};
  bool insert(Point p) { return places.emplace(std::floor(2 * p.x), std::floor(2 * p.y)).second; }
};

// Returns as many ticks as have labels that do not touch.
std::vector<Tick> ticks_along(const Axis& axis) {
  for (std::size_t most = 8;; --most) {
    std::vector<Tick> ticks = axis.ticks(most);
    bool touch = false;
    for (std::size_t i = 1; i < ticks.size(); ++i)
      touch |= width_of(ticks[i - 1].label + ticks[i].label) / 2 + 10 > ticks[i].at - ticks[i - 1].at;
    if (!touch || most == 1) return ticks;
  }
}

// Returns the polylines of a curve, which values without a position interrupt.
std::vector<Polyline> pieces_of(const Series& series, const Axis& across, const Axis& up) {
  std::vector<Polyline> pieces(1);
  for (std::size_t i = 0; i < series.x.size(); ++i)
    if (across.shows(series.x[i]) && up.shows(series.y[i]))
      pieces.back().push_back({across.at(series.x[i]), up.at(series.y[i])});
    else if (!pieces.back().empty())
      pieces.emplace_back();
  if (pieces.back().empty()) pieces.pop_back();
  return pieces;
}

// Keeps the first, the lowest, the highest and the last of the points in a half pixel column, which looks the
// same.
Polyline thinned(const Polyline& line) {
  Polyline result;
  for (std::size_t i = 0, end = 0; i < line.size(); i = end) {
    std::size_t lowest = i, highest = i;
    for (; end < line.size() && std::floor(2 * line[end].x) == std::floor(2 * line[i].x); ++end) {
      if (line[end].y > line[lowest].y) lowest = end;
      if (line[end].y < line[highest].y) highest = end;
    }
    for (const std::size_t kept : std::set{i, lowest, highest, end - 1}) result.push_back(line[kept]);
  }
  return result;
}

// Returns the distance of a point from a curve along y, or infinity if the curve does not reach its x.
// Searches by halving, because a curve may have many pieces of many points.
double distance_along_y(Point p, const std::vector<Polyline>& curve) {
  const auto line = std::lower_bound(curve.begin(), curve.end(), p.x,
                                     [](const Polyline& piece, double x) { return piece.back().x < x; });
  if (line == curve.end() || line->front().x > p.x) return std::numeric_limits<double>::infinity();
  const auto next =
      std::lower_bound(line->begin(), line->end(), p.x, [](Point q, double x) { return q.x < x; });
  const Point before = next == line->begin() ? *next : next[-1];
  const double part = next->x > before.x ? (p.x - before.x) / (next->x - before.x) : 0;
  return std::abs(before.y + part * (next->y - before.y) - p.y);
}

// Returns whether the curve `later` hides four fifths of the points of `earlier`.
bool hides(const std::vector<Polyline>& later, const std::vector<Polyline>& earlier) {
  std::size_t hidden = 0, all = 0;
  for (const Polyline& line : earlier)
    for (const Point& p : line) {
      ++all;
      hidden += distance_along_y(p, later) < 1.5;
    }
  return all > 0 && 5 * hidden >= 4 * all;
}

// Divides polylines into dashes of a length, one in every kDashPeriod units.
std::vector<Polyline> dashed(const std::vector<Polyline>& lines, double length) {
  std::vector<Polyline> dashes;
  for (const Polyline& line : lines) {
    double left = length;  // the rest of this dash or gap
    bool is_drawn = true;
    dashes.push_back({line[0]});
    for (std::size_t i = 1; i < line.size(); ++i) {
      Point from = line[i - 1];
      const Point to = line[i];
      double rest = std::hypot(to.x - from.x, to.y - from.y);
      for (; rest > left; is_drawn = !is_drawn, left = is_drawn ? length : kDashPeriod - length) {
        from = {from.x + (to.x - from.x) * left / rest, from.y + (to.y - from.y) * left / rest};
        if (is_drawn)
          dashes.back().push_back(from);
        else
          dashes.push_back({from});
        rest -= left;
      }
      left -= rest;
      if (is_drawn) dashes.back().push_back(to);
    }
  }
  return dashes;
}

// Returns the strokes of a marker of one of several shapes at each point. Shape 0 is a disc.
std::vector<Polyline> markers_at(const Polyline& points, std::size_t shape) {
  static const std::array<std::vector<Polyline>, kMarkerShapes> shapes = {
      {{{{0, 0}}},                                        // disc
       {{{-3, -3}, {3, 3}}, {{-3, 3}, {3, -3}}},          // cross
       {{{-3, -3}, {3, -3}, {3, 3}, {-3, 3}, {-3, -3}}},  // square
       {{{0, -4}, {0, 4}}, {{-4, 0}, {4, 0}}},            // plus
       {{{-4, 3}, {0, -4}, {4, 3}, {-4, 3}}}}};           // triangle
  HalfPixels seen;
  std::vector<Polyline> strokes;
  for (const Point& p : points)
    if (seen.insert(p))
      for (Polyline stroke : shapes[shape % kMarkerShapes]) {
        for (Point& q : stroke) q = {p.x + q.x, p.y + q.y};
        strokes.push_back(std::move(stroke));
      }
  return strokes;
}

class Layout {
 public:
  explicit Layout(const Chart& chart)
      : chart_(chart),
        across_(chart.logarithmic_x, false),
        up_(chart.logarithmic_y, !chart.categories.empty()),
        right_(crisp(chart.width)),
        bottom_(crisp(chart.height)) {
    for (const auto& s : chart.series) {
      groups_ += s->kind == Series::Kind::bars;
      for (std::size_t i = 0; i < s->x.size(); ++i)
        if (across_.shows(s->x[i]) && up_.shows(s->y[i])) {
          across_.include(s->x[i]);
          up_.include(s->y[i]);
        }
    }
    if (has_bars()) across_.include(-0.5);
    if (has_bars()) across_.include(static_cast<double>(chart.categories.size()) - 0.5);
    across_.place(kLeft, right_, has_bars() ? 0 : 0.02);
    up_.place(bottom_, kTop, 0.04);
  }

  void draw_axes() {
    for (const Tick& tick : up_.ticks(static_cast<std::size_t>(chart_.height / 45) + 2)) {
      canvas.strokes({{{kLeft, crisp(tick.at)}, {right_, crisp(tick.at)}}}, kGrid);
      canvas.text(tick.label, {kLeft - 6, tick.at + 4}, Align::end);
    }
    canvas.text(chart_.y_label, {canvas.low().x, kTop - 12}, Align::start);
    write_title(canvas, chart_.title, chart_.width / 2);
    if (has_bars())
      write_names(canvas, chart_.categories, {across_.at(0), bottom_}, across_.at(1) - across_.at(0), false);
    else
      for (const Tick& tick : ticks_along(across_)) {
        const double x = crisp(tick.at), end = chart_.logarithmic_x ? kTop : bottom_ + 4;
        canvas.strokes({{{x, bottom_}, {x, end}}}, chart_.logarithmic_x ? kGrid : kBlack);
        canvas.text(tick.label, {tick.at, bottom_ + 18}, Align::middle);
      }
    canvas.text(chart_.x_label, {chart_.width / 2, canvas.high().y + 17}, Align::middle);
  }

  void draw_series(bool has_legend) {
    for (std::size_t k = 0; k < chart_.series.size(); ++k) {
      const Series& series = *chart_.series[k];
      const bool is_named = has_legend && !series.name.empty();
      draw(series, k, is_named);
      if (!is_named) continue;
      canvas.text(series.name, {sample_.x + 32, sample_.y + 4}, Align::start);
      sample_.y += 18;
    }
    const double base = has_bars() ? up_.ground() : bottom_;
    canvas.strokes({{{kLeft, kTop}, {kLeft, bottom_}}, {{kLeft, base}, {right_, base}}}, kBlack);
  }

  Canvas canvas;

 private:
  static constexpr double kLeft = 0.5, kTop = 0.5;

  bool has_bars() const { return !chart_.categories.empty(); }

  // Draws the k-th series, and its sample for the legend.
  void draw(const Series& series, std::size_t k, bool has_sample) {
    const bool is_line = series.kind == Series::Kind::line;
    const std::uint32_t color = kColors[k % std::size(kColors)];
    std::vector<Polyline> pieces = pieces_of(series, across_, up_);
    Polyline places;  // of markers or bars
    for (Polyline& piece : pieces) {
      if (!is_line || series.x.size() <= kFewPoints || piece.size() == 1)
        places.insert(places.end(), piece.begin(), piece.end());
      piece = thinned(piece);
    }
    HalfPixels seen;
    std::erase_if(pieces, [&](const Polyline& piece) { return piece.size() == 1 && !seen.insert(piece[0]); });
    if (series.kind == Series::Kind::bars) {
      const double width = 0.8 * (across_.at(1) - across_.at(0)) / groups_;
      const double shift = (group_++ - 0.5 * groups_) * width;
      for (const Point p : places) {
        const auto [high, low] = std::minmax({p.y, up_.ground()});
        canvas.box({p.x + shift, high}, {p.x + shift + width, low}, color);
      }
      if (has_sample) canvas.box({sample_.x + 6, sample_.y - 6}, {sample_.x + 18, sample_.y + 6}, color);
      return;
    }
    double width = 6;
    if (is_line) {
      // The curves below show in the gaps. A color that is used again is dashed too.
      const auto hidden = std::count_if(curves_.begin(), curves_.end(),
                                        [&](const auto& earlier) { return hides(pieces, earlier); });
      if (hidden > 0) width = 4;
      curves_.push_back(pieces);
      if (has_sample) pieces.push_back({sample_, {sample_.x + 24, sample_.y}});
      const auto halvings = static_cast<int>(hidden) + static_cast<int>(k / std::size(kColors));
      canvas.strokes(halvings > 0 ? dashed(pieces, std::ldexp(kDashPeriod, -halvings)) : pieces, color, 1.75);
    }
    if (has_sample && !(is_line && places.empty())) places.push_back({sample_.x + 12, sample_.y});
    const std::size_t shape = is_line ? 0 : scatters_++ % kMarkerShapes;
    if (shape > 0) width = 1.75;
    const std::vector<Polyline> markers = markers_at(places, shape);
    if (!is_line) canvas.strokes(markers, kWhite, width + 1.5);  // sets markers off from a curve
    canvas.strokes(markers, color, width);
  }

  const Chart& chart_;
  Axis across_, up_;
  double right_, bottom_;
  Point sample_{right_ + 16, kTop + 8};
  std::vector<std::vector<Polyline>> curves_;
  std::size_t scatters_ = 0;
  int groups_ = 0, group_ = 0;  // of bars
};

}  // namespace

void write_names(Canvas& canvas, const std::vector<std::string>& names, Point first, double step,
                 bool above) {
  const bool upward = widest(names) + 6 > step;
  const auto stride = static_cast<std::size_t>(upward ? std::ceil(14 / step) : 1);
  for (std::size_t i = 0; i < names.size(); i += stride) {
    const double x = first.x + static_cast<double>(i) * step;
    if (upward)
      canvas.text(names[i], {x + 4, first.y + (above ? -6 : 6)}, above ? Align::start : Align::end, kBlack,
                  true);
    else
      canvas.text(names[i], {x, first.y + (above ? -6 : 18)}, Align::middle);
  }
}

void write_title(Canvas& canvas, const std::string& title, double x) {
  canvas.text(title, {x, canvas.low().y - 10}, Align::middle, kBlack, false, 15);
}

Canvas Chart::drawn(bool has_legend) const {
  if (picture) return *picture;
  Layout layout(*this);
  layout.draw_axes();
  layout.draw_series(has_legend);
  return layout.canvas;
}

}  // namespace ebb::watch::drawing
