// Report::State: converts records to JSON, and thins them out.
#include "watch/report_state.h"

#include "watch/encoding.h"

#include <cmath>

namespace ebb::watch {

using nlohmann::json;

// Returns milliseconds, or 0 for a time that JavaScript cannot represent.
static std::int64_t milliseconds(double seconds) {
  return std::abs(seconds) <= 8.64e12 ? static_cast<std::int64_t>(std::llround(seconds * 1000)) : 0;
}

// The functions to_json are not in a namespace without name, because nlohmann finds them by the type of the
// record.
static void to_json(json& to, const HistogramRecord& h) {
  to = {{"min", h.min},       {"max", h.max},      {"count", h.count},
        {"sum", h.sum},       {"nans", h.nans},    {"infinities", h.infinities},
        {"limits", h.limits}, {"counts", h.counts}};
}
static void to_json(json& to, const ImageRecord& image) {
  to = {{"height", image.height}, {"width", image.width}, {"png", base64(image.png)}};
}
static void to_json(json& to, const TextRecord& text) { to = {{"text", text.text}}; }
static void to_json(json& to, const CurveRecord& curve) {
  to = {{"precision", curve.precision}, {"recall", curve.recall}};
}
static void to_json(json& to, const GraphRecord::Node& node) {
  to = {{"name", node.name}, {"op", node.op}, {"inputs", node.inputs}, {"shapes", node.shapes}};
}
static void to_json(json& to, const Hyperparameter& value) {
  std::visit([&](const auto& one) { to = one; },
             static_cast<const std::variant<bool, double, std::string>&>(value));
}
static void to_json(json& to, const HparamsRecord& record) {
  to = {{"hparams", record.hparams}, {"metrics", record.metrics}};
}

void Report::State::add(Record&& record) {
  static constexpr const char* kKinds[] = {"", "histogram", "image", "text", "pr_curve"};
  if (const auto* const scalar = std::get_if<ScalarRecord>(&record.content)) {
    Curve& curve = scalars[record.tag][record.run];
    const std::int64_t following = curve.points.empty() ? 0 : curve.points.back().last_step + 1;
    curve.add(record.step.value_or(following), milliseconds(record.wall_time), scalar->value,
              options.points());
  } else if (const auto* const graph = std::get_if<GraphRecord>(&record.content)) {
    data["graphs"][record.run] = graph->nodes;
  } else if (const auto* const hparams = std::get_if<HparamsRecord>(&record.content)) {
    data["hparams"][record.run] = *hparams;
  } else {
    json item;
    std::visit(
        [&](const auto& content) {
          if constexpr (requires { to_json(item, content); }) to_json(item, content);
        },
        record.content);
    add_item(kKinds[record.content.index()], record, std::move(item));
  }
  changed(record.run);
}

void Report::State::add_item(const char* kind, const Record& record, json&& item) {
  json& series = data["series"][kind][record.tag][record.run];
  if (series.is_null()) series = {{"stride", 1}, {"count", 0}, {"items", json::array()}};
  std::int64_t stride = series["stride"];
  const std::int64_t index = series["count"];
  const auto is_extra = [&](const json& kept) { return kept["index"].get<std::int64_t>() % stride != 0; };
  auto& items = series["items"].get_ref<json::array_t&>();
  if (!items.empty() && is_extra(items.back())) items.pop_back();
  for (; static_cast<std::int64_t>(items.size()) >= options.samples(); std::erase_if(items, is_extra))
    stride *= 2;
  item["index"] = index;
  item["step"] = record.step.value_or(index);
  item["time"] = milliseconds(record.wall_time);
  items.push_back(std::move(item));
  series["stride"] = stride;
  series["count"] = index + 1;
}

}  // namespace ebb::watch
