// add_histogram: the distribution of a tensor; add_pr_curve: precision and recall at thresholds.
#include <ebb/ebb.h>
#include <ebb/watch/records.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace ebb::watch {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 22;  // elements that are converted to Double at a time

std::vector<double> to_vector(const Variable& tensor) {
  const Variable values = tensor.to(Device::CPU, kDouble).contiguous();
  const auto* data = values.data_ptr<double>();
  return {data, data + values.numel()};
}

// Returns the edges of the buckets of TensorFlow and torch: 0, and from 1e-12 to 1e20 by factors of 1.1.
std::vector<double> tensorflow_edges() {
  std::vector<double> edges{0};
  for (double edge = 1e-12; edge < 1e20; edge *= 1.1) edges.push_back(edge);
  const std::vector<double> positive(edges.begin() + 1, edges.end());
  for (const double edge : positive) edges.insert(edges.begin(), -edge);
  return edges;
}

// Returns numpy.histogram's edges of `bins` equal buckets.
std::vector<double> equal_edges(double min, double max, std::int64_t bins) {
  if (min == max) {
    min -= 0.5;
    max += 0.5;
  }
  const double step = max / static_cast<double>(bins) - min / static_cast<double>(bins);
  std::vector<double> edges;
  for (std::int64_t i = 0; i < bins; ++i) edges.push_back(min + step * static_cast<double>(i));
  edges.push_back(max);
  return edges;
}

// Drops empty buckets at both ends, and joins neighbours until there are at most max_bins buckets.
void set_buckets(HistogramRecord& record, const std::vector<double>& edges, const std::vector<double>& counts,
                 std::int64_t max_bins) {
  const auto full = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), full);
  const auto last = std::find_if(counts.rbegin(), counts.rend(), full).base();
  const auto edge = [&](auto at) { return edges[static_cast<std::size_t>(at - counts.begin())]; };
  const std::int64_t joined = (last - first + max_bins - 1) / max_bins;
  record.limits = {edge(first)};
  record.counts = {0};
  for (auto at = first; at < last;) {
    const auto end = at + std::min(joined, last - at);
    record.counts.push_back(std::accumulate(at, end, 0.0));
    record.limits.push_back(edge(end));
    at = end;
  }
}

// Counts the values in buckets. `bins` is 0 for those of TensorFlow.
HistogramRecord histogram_of(const Variable& values, std::int64_t bins, std::int64_t max_bins) {
  const NoGradGuard guard;
  HistogramRecord record;
  const Variable flat = values.detach().flatten();
  const auto for_each_chunk = [&](const auto& visit) {
    for (std::int64_t begin = 0; begin < flat.numel(); begin += kChunk)
      visit(flat.slice(0, begin, begin + kChunk).to(Device::CPU).to(kDouble));
  };
  double min = std::numeric_limits<double>::infinity(), max = -min;
  for_each_chunk([&](const Variable& chunk) {
    for (const double value : to_vector(chunk)) {
      record.nans += std::isnan(value);
      record.infinities += std::isinf(value);
      if (!std::isfinite(value)) continue;
      min = std::min(min, value);
      max = std::max(max, value);
      record.count += 1;
      record.sum += value;
      record.sum_squares += value * value;
    }
  });
  if (record.count == 0) return record;
  record.min = min;
  record.max = max;
  std::vector<double> edges = bins == 0 ? tensorflow_edges() : equal_edges(min, max, bins);
  edges.front() = std::min(edges.front(), min);
  edges.back() = std::max(edges.back(), max);
  const Variable limits = tensor(edges, kDouble);
  Variable counts = zeros({limits.numel() - 1}, kDouble);
  for_each_chunk([&](const Variable& chunk) { counts += std::get<0>(histogram(chunk, limits)); });
  set_buckets(record, edges, to_vector(counts), max_bins);
  return record;
}

}  // namespace

void Recorder::add_histogram(const std::string& tag, const Variable& values, Step step,
                             std::variant<std::string_view, std::int64_t> bins, WallTime wall_time,
                             std::optional<std::int64_t> max_bins) {
  EBB_CHECK(values.defined(), "add_histogram: expected a tensor for \"", tag, "\", got ", values, ".");
  const auto* const name = std::get_if<std::string_view>(&bins);
  EBB_CHECK(!name || *name == "tensorflow", "add_histogram: bins must be \"tensorflow\" or a number, got \"",
            *name, "\" for \"", tag, "\".");
  const std::int64_t equal = name ? 0 : std::get<std::int64_t>(bins), most = max_bins.value_or(kChunk);
  EBB_CHECK(name || (equal >= 1 && equal <= kChunk), "add_histogram: bins must be 1 to ", kChunk, ", got ",
            equal, " for \"", tag, "\".");
  EBB_CHECK(most >= 1, "add_histogram: max_bins must be positive, got ", most, " for \"", tag, "\".");
  record("add_histogram", "", tag, step, wall_time,
         writes() ? histogram_of(values, equal, most) : HistogramRecord{});
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
  if (!writes()) return record("add_pr_curve", "", tag, step, wall_time, CurveRecord{});
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
  record("add_pr_curve", "", tag, step, wall_time,
         CurveRecord{to_vector(tp), to_vector(fp), to_vector(tn), to_vector(fn),
                     to_vector(tp / (tp + fp).clamp_min(1e-7)), to_vector(tp / (tp + fn).clamp_min(1e-7))});
}

}  // namespace ebb::watch
