// add_histogram: the distribution of a tensor; add_pr_curve: precision and recall at thresholds.
#include <ebb/ebb.h>

#include "watch/record.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

namespace ebb::watch {
namespace {

using nlohmann::json;

constexpr std::int64_t kChunk = std::int64_t{1} << 22;  // elements that are converted to Double at a time

std::vector<double> to_vector(const Variable& tensor) {
  const Variable values = tensor.to(Device::CPU, kDouble).contiguous();
  const auto* data = values.data_ptr<double>();
  return {data, data + values.numel()};
}

// Returns the edges of the buckets of TensorFlow and torch: 0, and from 1e-12 to 1e20 by factors of 1.1.
std::vector<double> tensorflow_edges() {
  std::vector<double> positive, edges;
  for (double edge = 1e-12; edge < 1e20; edge *= 1.1) positive.push_back(edge);
  std::transform(positive.rbegin(), positive.rend(), std::back_inserter(edges), std::negate<>());
  edges.push_back(0);
  edges.insert(edges.end(), positive.begin(), positive.end());
  return edges;
}

// Returns numpy.histogram's edges of `bins` equal buckets.
std::vector<double> equal_edges(double min, double max, std::int64_t bins) {
  const double margin = min == max ? 0.5 : 0;
  // The difference of the halves does not overflow.
  return to_vector(linspace((min - margin) / 2, (max + margin) / 2, bins + 1, kDouble) * 2);
}

// Adds the buckets to a histogram. Drops empty ones at both ends, and joins neighbours until there are at
// most max_bins.
void set_buckets(json& histogram, const std::vector<double>& edges, const std::vector<double>& counts,
                 std::int64_t max_bins) {
  const auto full = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), full);
  const auto last = std::find_if(counts.rbegin(), counts.rend(), full).base();
  const std::int64_t joined = (last - first + max_bins - 1) / max_bins;
  const auto add = [&](auto begin, auto end) {
    histogram["counts"].push_back(std::accumulate(begin, end, 0.0));
    histogram["limits"].push_back(edges[static_cast<std::size_t>(end - counts.begin())]);
  };
  add(first, first);
  for (auto at = first; at < last; at += std::min(joined, last - at))
    add(at, at + std::min(joined, last - at));
}

// Counts the values in buckets. `bins` is 0 for those of TensorFlow.
json histogram_of(const Variable& values, std::int64_t bins, std::int64_t max_bins) {
  const NoGradGuard guard;
  std::int64_t count = 0, nans = 0, infinities = 0;
  double min = 0, max = 0, sum = 0, sum_squares = 0;
  const variable_list chunks = values.detach().flatten().split(kChunk);
  const auto converted = [](const Variable& chunk) { return chunk.to(Device::CPU).to(kDouble); };
  for (const Variable& chunk : chunks) {
    const Variable all = converted(chunk), finite = all.masked_select(all.isfinite());
    nans += all.isnan().sum().item<std::int64_t>();
    infinities += all.isinf().sum().item<std::int64_t>();
    if (finite.numel() == 0) continue;
    const double least = finite.min().item<double>(), most = finite.max().item<double>();
    min = count == 0 ? least : std::min(min, least);
    max = count == 0 ? most : std::max(max, most);
    count += finite.numel();
    sum += finite.sum().item<double>();
    sum_squares += finite.square().sum().item<double>();
  }
  json histogram = {{"min", min},
                    {"max", max},
                    {"count", count},
                    {"sum", sum},
                    {"sum_squares", sum_squares},
                    {"nans", nans},
                    {"infinities", infinities},
                    {"limits", json::array()},
                    {"counts", json::array()}};
  if (count == 0) return histogram;
  std::vector<double> edges = bins == 0 ? tensorflow_edges() : equal_edges(min, max, bins);
  edges.front() = std::min(edges.front(), min);
  edges.back() = std::max(edges.back(), max);
  const Variable limits = tensor(edges, kDouble);
  Variable counts = zeros({limits.numel() - 1}, kDouble);
  for (const Variable& chunk : chunks) counts += std::get<0>(ebb::histogram(converted(chunk), limits));
  set_buckets(histogram, edges, to_vector(counts), max_bins);
  return histogram;
}

}  // namespace

void Recorder::add_histogram(const std::string& tag, const Variable& values, Step step,
                             std::variant<std::string_view, std::int64_t> bins, WallTime wall_time,
                             std::optional<std::int64_t> max_bins) {
  EBB_CHECK(values.defined(), "add_histogram: expected a tensor for \"", tag, "\", got ", values, ".");
  const auto* const name = std::get_if<std::string_view>(&bins);
  EBB_CHECK(!name || *name == "tensorflow", "add_histogram: bins must be \"tensorflow\" or a number, got \"",
            *name, "\" for \"", tag, "\".");
  const std::int64_t equal = name ? default_bins_ : std::get<std::int64_t>(bins),
                     most = max_bins.value_or(kChunk);
  EBB_CHECK(name || (equal >= 1 && equal <= kChunk), "add_histogram: bins must be 1 to ", kChunk, ", got ",
            equal, " for \"", tag, "\".");
  EBB_CHECK(most >= 1, "add_histogram: max_bins must be positive, got ", most, " for \"", tag, "\".");
  record("add_histogram",
         {"histogram", tag, step, wall_time, writes() ? histogram_of(values, equal, most) : nullptr});
}

void Recorder::add_pr_curve(const std::string& tag, const Variable& labels, const Variable& predictions,
                            Step step, std::int64_t num_thresholds, const Variable& weights,
                            WallTime wall_time) {
  EBB_CHECK(labels.defined() && predictions.defined() && labels.numel() == predictions.numel(),
            "add_pr_curve: expected as many labels as predictions for \"", tag, "\", got ", labels, " and ",
            predictions, ".");
  EBB_CHECK(!weights.defined() || weights.numel() == labels.numel(),
            "add_pr_curve: expected one weight for each label of \"", tag, "\", got ", weights, " for ",
            labels, ".");
  EBB_CHECK(num_thresholds >= 2 && num_thresholds <= kChunk, "add_pr_curve: num_thresholds must be 2 to ",
            kChunk, ", got ", num_thresholds, " for \"", tag, "\".");
  if (!writes()) return record("add_pr_curve", {"pr_curve", tag, step, wall_time, {}});
  const NoGradGuard guard;
  const Variable scores =
      predictions.detach().flatten().to(predictions.dtype() == kDouble ? kDouble : kFloat);
  const Variable truths = labels.detach().flatten().to(scores.device(), kDouble);
  EBB_CHECK(scores.ge(0).logical_and(scores.le(1)).all().item<bool>(), "add_pr_curve: the predictions of \"",
            tag, "\" must be probabilities from 0 to 1. Apply sigmoid to logits first.");
  EBB_CHECK(truths.eq(0).logical_or(truths.eq(1)).all().item<bool>(), "add_pr_curve: the labels of \"", tag,
            "\" must be 0 or 1.");
  const Variable counted =
      weights.defined() ? weights.detach().flatten().to(scores.device(), kDouble) : ones_like(truths);
  const Variable buckets = (scores * (num_thresholds - 1)).floor().to(kLong);
  const auto at_least = [&](const Variable& of) {  // the sums over predictions at or above each threshold
    return bincount(buckets, of, num_thresholds).flip({0}).cumsum(0).flip({0}).to(Device::CPU);
  };
  const Variable tp = at_least(truths * counted), fp = at_least((1 - truths) * counted);
  const Variable tn = fp[0] - fp, fn = tp[0] - tp;
  const Variable precision = tp / (tp + fp).clamp_min(1e-7), recall = tp / (tp + fn).clamp_min(1e-7);
  json rows;
  for (const Variable& row : {tp, fp, tn, fn, precision, recall}) rows.push_back(to_vector(row));
  record("add_pr_curve", {"pr_curve", tag, step, wall_time, {{"rows", rows}}});
}

}  // namespace ebb::watch
