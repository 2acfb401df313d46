// Curve: joins neighbouring points if there are too many.
#include "watch/report_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ebb::watch {
namespace {

Curve::Point point_of(std::int64_t step, std::int64_t time, double value) {
  if (std::isfinite(value)) return {step, time, step, 1, 0, value, value, value, value};
  return {step, time, step, 0, 1, 0, 0, 0, value};
}

double value_of(const nlohmann::json& number) {
  return number.is_number() ? number.get<double>() : std::strtod(number.get<std::string>().c_str(), nullptr);
}

}  // namespace

void Curve::Point::join(const Point& next) {
  if (next.finite > 0) {
    const double share = static_cast<double>(next.finite) / static_cast<double>(finite + next.finite);
    mean = mean * (1 - share) + next.mean * share;  // a difference may overflow
    low = finite == 0 ? next.low : std::min(low, next.low);
    high = finite == 0 ? next.high : std::max(high, next.high);
  }
  finite += next.finite;
  nonfinite += next.nonfinite;
  last_step = next.last_step;
  last = next.last;
}

void Curve::add(std::int64_t step, std::int64_t time, double value, std::int64_t limit) {
  const auto has_room = [&] {
    return !points.empty() && points.back().finite + points.back().nonfinite < width;
  };
  while (!has_room() && static_cast<std::int64_t>(points.size()) >= limit) {
    for (std::size_t i = 0; i + 1 < points.size(); i += 2) {
      points[i].join(points[i + 1]);
      points[i / 2] = points[i];
    }
    if (points.size() % 2 == 1) points[points.size() / 2] = points.back();
    points.resize((points.size() + 1) / 2);
    width *= 2;
  }
  const Point point = point_of(step, time, value);
  has_room() ? points.back().join(point) : points.push_back(point);
}

nlohmann::json number(double value) {
  const std::string text = fmt::format("{:.7g}", value);
  return std::isfinite(value) ? nlohmann::json(std::strtod(text.c_str(), nullptr)) : nlohmann::json(text);
}

void to_json(nlohmann::json& json, const Curve& curve) {
  nlohmann::json& points = json["points"] = nlohmann::json::array();
  for (const Curve::Point& p : curve.points) {
    points.push_back({p.step, p.time, number(p.last)});
    if (curve.width > 1)
      points.back().insert(points.back().end(), {p.last_step, p.finite, p.nonfinite, number(p.mean),
                                                 number(p.low), number(p.high)});
  }
  json["width"] = curve.width;
}

void from_json(const nlohmann::json& json, Curve& curve) {
  curve.width = json.at("width");
  for (const nlohmann::json& p : json.at("points")) {
    Curve::Point& point = curve.points.emplace_back(point_of(p.at(0), p.at(1), value_of(p.at(2))));
    if (p.size() > 3)
      point = {point.step,        point.time,        p.at(3),           p.at(4),   p.at(5),
               value_of(p.at(6)), value_of(p.at(7)), value_of(p.at(8)), point.last};
  }
}

}  // namespace ebb::watch
