// The geometry of curves: pieces, thinning, dashes and markers.
#include "watch/drawing/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace ebb::watch::drawing {
namespace {

// Returns the distance of a point from a curve along y, or infinity if the curve does not reach its x.
double distance_along_y(Point p, const std::vector<Polyline>& curve) {
  double distance = std::numeric_limits<double>::infinity();
  for (const Polyline& line : curve) {
    const auto next =
        std::lower_bound(line.begin(), line.end(), p.x, [](Point q, double x) { return q.x < x; });
    if (next == line.end() || (next == line.begin() && next->x > p.x)) continue;
    const Point before = next == line.begin() ? *next : next[-1];
    const double part = next->x > before.x ? (p.x - before.x) / (next->x - before.x) : 0;
    distance = std::min(distance, std::abs(before.y + part * (next->y - before.y) - p.y));
  }
  return distance;
}

}  // namespace

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

bool hides(const std::vector<Polyline>& later, const std::vector<Polyline>& earlier) {
  std::size_t hidden = 0, all = 0;
  for (const Polyline& line : earlier)
    for (const Point& p : line) {
      ++all;
      hidden += distance_along_y(p, later) < 1.5;
    }
  return all > 0 && 5 * hidden >= 4 * all;
}

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

std::vector<Polyline> markers_at(const Polyline& points, std::size_t shape) {
  static const std::array<std::vector<Polyline>, kMarkerShapes> shapes = {
      {{{{0, 0}}},                                        // disc
       {{{-3, -3}, {3, 3}}, {{-3, 3}, {3, -3}}},          // cross
       {{{-3, -3}, {3, -3}, {3, 3}, {-3, 3}, {-3, -3}}},  // square
       {{{0, -4}, {0, 4}}, {{-4, 0}, {4, 0}}},            // plus
       {{{-4, 3}, {0, -4}, {4, 3}, {-4, 3}}}}};           // triangle
  std::set<std::pair<double, double>> places;             // one marker in each half pixel
  std::vector<Polyline> strokes;
  for (const Point& p : points)
    if (places.emplace(std::floor(2 * p.x), std::floor(2 * p.y)).second)
      for (Polyline stroke : shapes[shape % kMarkerShapes]) {
        for (Point& q : stroke) q = {p.x + q.x, p.y + q.y};
        strokes.push_back(std::move(stroke));
      }
  return strokes;
}

}  // namespace ebb::watch::drawing
