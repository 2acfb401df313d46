// Samples of sklearn_goldens.py, and helpers of the tests of metrics.
#pragma once

#include <ebb/watch.h>

#include "support/files.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace watch_samples {

using namespace ebb;
using namespace ebb::watch;

constexpr std::int64_t kSamples = 60, kClasses = 5;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline Variable doubles(const std::vector<double>& values) { return tensor(values, kDouble); }

// The scores of sklearn_goldens.py, multiples of 1/8 with many ties.
inline Variable scores() {
  std::vector<double> values;
  for (std::int64_t i = 0; i < kSamples; ++i)
    for (std::int64_t c = 0; c < kClasses; ++c)
      values.push_back(std::floor(8 * std::sin(1.7 * static_cast<double>(i) + 2.3 * static_cast<double>(c))) /
                       8);
  return doubles(values).reshape({kSamples, kClasses});
}

inline Variable distinct() { return scores() + 1e-3 * arange(kClasses, TensorOptions(kDouble)); }

inline Variable targets() {
  const Variable i = arange(kSamples);
  return (i * i + floor_divide(i, 7)).remainder(4);
}

inline Variable multilabel_targets() {
  const Variable i = arange(kSamples).unsqueeze(1), c = arange(kClasses).unsqueeze(0);
  return (i * (c + 2) + floor_divide(i, 3)).remainder(3).eq(0).to(kLong);
}

// Calls update with batches of uneven sizes, one of them empty.
template <class M>
void update(M& metric, const Variable& predictions, const Variable& truth) {
  std::int64_t from = 0;
  for (const std::int64_t size : {7, 0, 25, 1, 27}) {
    metric.update(predictions.narrow(0, from, size), truth.narrow(0, from, size));
    from += size;
  }
}

inline Classification classified(
    const ClassificationOptions& options = ClassificationOptions(kClasses).top_k(3).confusion_matrix(true)) {
  Classification metric(options);
  update(metric, distinct(), targets());
  return metric;
}

inline std::vector<double> scores_of(const Classification& m, Average average) {
  return {m.precision(average), m.recall(average), m.f1(average)};
}

inline std::vector<double> curves_of(const Ranking& m, Average average) {
  return {m.auroc(average), m.average_precision(average)};
}

inline std::vector<double> errors_of(const Regression& m) { return {m.mse(), m.rmse(), m.mae(), m.r2()}; }

struct Regressed {
  Variable target, prediction;
};
inline Regressed regressed() {
  std::vector<double> y, p;
  for (std::int64_t n = 0; n < kSamples; ++n) {
    const auto i = static_cast<double>(n);
    y.push_back(1e6 + 3 * std::sin(0.9 * i) + 0.1 * i);
    p.push_back(1e6 + 2.5 * std::sin(0.9 * i + 0.2) + 0.1 * i);
  }
  return {doubles(y), doubles(p)};
}

// Returns what a metric gives after its state went through a file.
template <class M>
void restore(const M& from, M& to) {
  const std::string path = support::temporary("metric.safetensors");
  serialize::OutputArchive out;
  from.save(out);
  out.save_to(path);
  serialize::InputArchive in;
  in.load_from(path);
  to.load(in);
}

}  // namespace watch_samples
