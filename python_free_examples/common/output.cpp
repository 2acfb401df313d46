// print_curve, print_confusion and numbers: results as text, and tensors as numbers.
#include "common/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace example {

void print_curve(const std::string& title, const std::vector<double>& values) {
  if (values.empty()) return;
  constexpr int kRows = 8;
  const std::ptrdiff_t steps = std::ssize(values), columns = std::min<std::ptrdiff_t>(steps, 60);
  std::vector<double> means;
  double low = INFINITY, high = -INFINITY;
  for (std::ptrdiff_t i = 0; i < columns; ++i) {
    const auto from = values.begin() + i * steps / columns, to = values.begin() + (i + 1) * steps / columns;
    means.push_back(std::accumulate(from, to, 0.0) / static_cast<double>(to - from));
    if (std::isfinite(means.back())) low = std::min(low, means.back()), high = std::max(high, means.back());
  }
  std::vector<std::string> rows(kRows, std::string(means.size(), ' '));
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double height = high > low ? (means[i] - low) / (high - low) : 0;
    if (std::isfinite(means[i])) rows[static_cast<std::size_t>((1 - height) * (kRows - 1) + 0.5)][i] = '*';
  }
  fmt::print("\n{}\n", title);
  std::vector<std::string> labels(kRows);
  labels.front() = fmt::format("{:.4g}", high);
  labels.back() = fmt::format("{:.4g}", low);
  for (std::size_t row = 0; row < kRows; ++row) fmt::print("{:>8} |{}\n", labels[row], rows[row]);
  fmt::print("{:>9}+{:->{}}\n{:>11}{:>{}}\n", "", "", columns, 1, steps > 1 ? std::to_string(steps) : "",
             columns - 1);
}

void print_confusion(const ebb::watch::Classification& result, const std::vector<std::string>& names) {
  const ebb::Tensor counts = result.confusion_matrix(), recall = result.per_class()[1];
  fmt::print("\nrows: true classes; columns: predictions\n{:10}", "");
  for (const std::string& name : names) fmt::print(" {:>5.5}", name);
  fmt::print("  recall\n");
  for (std::size_t i = 0; i < names.size(); ++i) {
    fmt::print("{:>10.10}", names[i]);
    for (const double count : numbers(counts[static_cast<std::int64_t>(i)]))
      fmt::print(" {:>5}", count > 0 ? fmt::format("{:.0f}", count) : ".");
    fmt::print("  {:5.1f}%\n", 100 * recall[static_cast<std::int64_t>(i)].item<double>());
  }
}

std::vector<double> numbers(const ebb::Tensor& x) {
  const ebb::Tensor flat = x.detach().cpu().to(ebb::kDouble).flatten();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

}  // namespace example
