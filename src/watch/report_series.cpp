// append: keeps a series of a report bounded, by joining neighbours.
#include <ebb/core/error.h>

#include "watch/report_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ebb::watch {
namespace {

using nlohmann::json;

std::int64_t last_step(const json& item) {
  return item.is_array() ? item.at(item.size() > 3 ? 3 : 0) : item.at("step");
}

// Returns a point of a curve in the long form.
json long_form(const json& point) {
  if (point.size() > 3) return point;
  const bool finite = point.at(2).is_number();
  const json value = finite ? point[2] : json(0);
  return {point[0], point[1], point[2], point[0], int{finite}, int{!finite}, value, value, value};
}

void join(json& item, json&& next) {
  if (!item.is_array()) {
    item = std::move(next);
    return;
  }
  const json a = long_form(item), b = long_form(next);
  const std::int64_t n = a.at(4), m = b.at(4),
                     others = a.at(5).get<std::int64_t>() + b.at(5).get<std::int64_t>();
  const double share = static_cast<double>(m) / static_cast<double>(std::max(n + m, std::int64_t{1}));
  const json &x = n > 0 ? a : b, &y = m > 0 ? b : a;
  const double mean = x.at(6).get<double>() * (1 - share) + y.at(6).get<double>() * share;  // no overflow
  const json low = std::min(x.at(7), y.at(7)), high = std::max(x.at(8), y.at(8));
  item = {a[0], a[1], b[2], b[3], n + m, others, mean, low, high};
}

}  // namespace

void append_item(json& series, json&& item, std::int64_t limit) {
  if (series.is_null()) series = {{"width", 1}, {"count", 0}, {"items", json::array()}};
  auto& items = series["items"].get_ref<json::array_t&>();
  std::int64_t width = series["width"];
  const std::int64_t count = series["count"];
  const auto has_room = [&] { return items.size() > 1 && (count - 1) % width != 0; };
  while (!has_room() && static_cast<std::int64_t>(items.size()) >= limit) {
    for (std::size_t i = 1; i < items.size(); i += 2) {
      if (i + 1 < items.size()) join(items[i], std::move(items[i + 1]));
      items[i / 2 + 1] = items[i];
    }
    items.resize(items.size() / 2 + 1);
    width *= 2;
  }
  has_room() ? join(items.back(), std::move(item)) : items.push_back(std::move(item));
  series["width"] = width;
  series["count"] = count + 1;
}

void purge(json& series, std::int64_t step) {
  auto& items = series.at("items").get_ref<json::array_t&>();
  const std::int64_t width = series.at("width"), count = series.at("count");
  EBB_CHECK(width > 0 && count >= 0, "a series has a wrong width or count");
  for (json item : items) join(item, json(item));  // throws if a member is missing
  if (std::erase_if(items, [&](const json& item) { return last_step(item) >= step; }) > 0)
    series["count"] = items.empty() ? 0 : 1 + (static_cast<std::int64_t>(items.size()) - 1) * width;
}

std::int64_t next_step(const json& series) {
  return series.is_null() || series["items"].empty() ? 0 : last_step(series["items"].back()) + 1;
}

void round_numbers(json& value) {
  if (value.is_structured())
    for (json& each : value) round_numbers(each);
  if (!value.is_number_float()) return;
  const double number = value;
  if (!std::isfinite(number))
    value = std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
  else if (std::trunc(number) != number)
    value = std::strtod(fmt::format("{:.7g}", number).c_str(), nullptr);
}

}  // namespace ebb::watch
