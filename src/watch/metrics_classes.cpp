// Classification and Ranking: metrics of classes and of their scores.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "watch/metrics.h"

#include <limits>

namespace ebb::watch {
namespace {

// Returns the state: correct, predicted, true and top-k counts of classes, then the pairs of classes. After
// the n classes come two counters: n is for wrong classes, n + 1 for samples that are not counted.
std::vector<Variable> counters(const ClassificationOptions& options) {
  const std::int64_t n = options.num_classes();
  EBB_CHECK(n >= 2, "Classification: expected 2 or more classes, got ", n, ".");
  EBB_CHECK(options.top_k() >= 1 && options.top_k() <= n, "Classification: top_k is ", options.top_k(),
            "; expected 1 to ", n, ", the number of classes.");
  std::vector<Variable> state{zero_state({4, n + 2}, kLong)};
  if (options.confusion_matrix()) state.push_back(zero_state({n * n + 1}, kLong));
  return state;
}

// Returns the average of values of classes, in which classes without weight do not count.
double averaged(const char* name, const Variable& values, const Variable& weights, Average average) {
  if (average != Average::binary) return ((values * weights).sum() / weights.sum()).item<double>();
  EBB_CHECK(values.numel() == 2, name, ": the average binary needs 2 classes, but there are ", values.numel(),
            ". Use macro, weighted or micro.");
  return values[1].item<double>();
}

Variable quotient(const Variable& a, const Variable& b) { return where(b.eq(0), zeros_like(b), a / b); }

// Returns the rows of per_class() for correct, predicted and true counts.
Variable scores_of(const Variable& c) {
  return stack({quotient(c[0], c[1]), quotient(c[0], c[2]), quotient(2 * c[0], c[1] + c[2]), c[2]});
}

void add_ones(const Variable& counts, const Variable& index) {
  counts.scatter_add_(-1, index, ones({1}, counts.options()).expand(index.sizes()));
}

}  // namespace

Classification::Classification(const ClassificationOptions& options)
    : Metric("Classification", counters(options)), options_(options) {}

void Classification::update(const Variable& predictions, const Variable& targets) {
  const StateModes modes;
  const std::vector<Variable>& state = state_for(predictions, targets);
  const std::int64_t n = options_.num_classes();
  const bool floating = predictions.is_floating_point();
  const bool scores = floating && predictions.dim() == targets.dim() + 1 && predictions.dim() >= 2;
  DimVector expected(predictions.sizes());
  if (scores) expected.erase(expected.begin() + 1);
  EBB_CHECK(is_integral(targets.dtype(), true) && targets.sizes() == IntArrayRef(expected) &&
                (scores ? predictions.size(1) == n : !floating || n == 2),
            name_, "::update: expected targets [N, ...] of an integer dtype and scores [N, ", n,
            ", ...], classes [N, ...]", n == 2 ? " or probabilities [N, ...]" : "", ", got predictions ",
            predictions, " and targets ", targets, ".");
  EBB_CHECK(scores || options_.top_k() == 1, name_, "::update: top_k needs scores [N, ", n, ", ...], got ",
            predictions, ".");

  Variable target = targets.to(kLong);
  Variable predicted = scores     ? predictions.argmax(1)
                       : floating ? predictions.gt(options_.threshold()).to(kLong)
                                  : predictions.to(kLong);
  Variable near = predicted.eq(target);
  if (options_.top_k() > 1)
    near = std::get<1>(topk(predictions, options_.top_k(), 1)).eq(target.unsqueeze(1)).any(1);
  const Variable wrong = full({}, n, target.options()), uncounted = full({}, n + 1, target.options());
  const auto classes = [&](const Variable& x) {
    const Variable valid = where(x.lt(0).logical_or(x.ge(n)), wrong, x);
    return options_.ignore_index() ? where(target.eq(*options_.ignore_index()), uncounted, valid) : valid;
  };
  predicted = classes(predicted);
  target = classes(target);
  const Variable index = stack(
      {where(predicted.eq(target), target, uncounted), predicted, target, where(near, target, uncounted)});
  add_ones(state[0], index.reshape({4, -1}));
  if (!options_.confusion_matrix()) return;
  const Variable counted = predicted.lt(n).logical_and(target.lt(n));
  add_ones(state[1], where(counted, target * n + predicted, full({}, n * n, target.options())).reshape({-1}));
}

Variable Classification::counts() const {
  const Variable all = state_[0].to(Device::CPU);
  const std::int64_t n = options_.num_classes();
  const Variable classes = all.narrow(1, 0, n).to(kDouble);
  const std::int64_t wrong_predictions = all[1][n].item<std::int64_t>();
  const std::int64_t wrong_targets = all[2][n].item<std::int64_t>();
  EBB_CHECK(wrong_predictions == 0 && wrong_targets == 0, name_, ": ", wrong_targets, " targets and ",
            wrong_predictions, " predictions were not classes from 0 to ", n - 1,
            ". ignore_index leaves out one value of the targets; reset() begins again.");
  EBB_CHECK(classes[2].sum().item<double>() > 0, name_, ": there is no sample. Call update() first.");
  return classes;
}

double Classification::accuracy() const {
  const Variable c = counts();
  return (c[0].sum() / c[2].sum()).item<double>();
}

double Classification::top_k_accuracy() const {
  const Variable c = counts();
  return (c[3].sum() / c[2].sum()).item<double>();
}

double Classification::balanced_accuracy() const {
  const Variable c = counts();
  return averaged(name_, quotient(c[0], c[2]), c[2].gt(0).to(kDouble), Average::macro);
}

Variable Classification::per_class() const { return scores_of(counts()); }

double Classification::score(std::int64_t row, Average average) const {
  if (average == Average::micro) return accuracy();  // each sample has one predicted and one true class
  const Variable c = counts();
  return averaged(name_, scores_of(c)[row],
                  average == Average::weighted ? c[2] : (c[1] + c[2]).gt(0).to(kDouble), average);
}

Variable Classification::confusion_matrix() const {
  EBB_CHECK(options_.confusion_matrix(), name_, "::confusion_matrix: pairs of classes are not counted. Use ",
            "Classification(ClassificationOptions(", options_.num_classes(), ").confusion_matrix(true)).");
  counts();  // checks the classes
  const std::int64_t n = options_.num_classes();
  return state_[1].to(Device::CPU).narrow(0, 0, n * n).reshape({n, n}).clone();
}

void Ranking::update(const Variable& scores, const Variable& targets) {
  const StateModes modes;
  state_for(scores, targets);
  EBB_CHECK((scores.dim() == 1 || scores.dim() == 2) && is_integral(targets.dtype(), true) &&
                (targets.sizes() == scores.sizes() || targets.sizes() == scores.sizes().slice(0, 1)),
            name_, "::update: expected scores [N] or [N, classes], and targets [N] or [N, classes] of an ",
            "integer dtype, got ", scores, " and ", targets, ".");
  EBB_CHECK(state_.empty() || (state_[0].dim() == scores.dim() && state_[1].dim() == targets.dim() &&
                               (scores.dim() == 1 || state_[0].size(1) == scores.size(1))),
            name_, "::update: the first batch had scores ", state_.empty() ? scores : state_[0],
            " and targets ", state_.empty() ? targets : state_[1], ", this one has ", scores, " and ",
            targets, ". Call reset() before samples of another kind.");
  state_.push_back(scores.to(scores.dtype() == kFloat ? kFloat : kDouble, false, true));
  state_.push_back(targets.detach().clone());
}

void Ranking::combine(const std::vector<Variable>& other) {
  for (std::size_t i = 0; i + 1 < other.size(); i += 2) update(other[i], other[i + 1]);
}

Variable Ranking::curves(bool together) const {
  std::vector<Variable> batches[2];
  for (std::size_t i = 0; i < state_.size(); ++i) batches[i % 2].push_back(state_[i]);
  EBB_CHECK(!state_.empty(), name_, ": there is no sample. Call update() first.");
  Variable scores = cat(batches[0]), truth = cat(batches[1]);
  EBB_CHECK(scores.numel() > 0, name_, ": there is no sample. Call update() first.");
  const bool against_rest = truth.dim() < scores.dim();
  const std::int64_t values = against_rest ? scores.size(1) : 2;
  const Variable wrong = truth.lt(0).logical_or(truth.ge(values)).sum();
  if (against_rest) truth = truth.unsqueeze(1).eq(arange(values, truth.options()));
  if (together || scores.dim() == 1) scores = scores.reshape({-1, 1}), truth = truth.reshape({-1, 1});

  // Ties are one threshold: `below` counts the smaller scores of each score, `upto` also the equal ones.
  const auto [sorted, order] = sort(scores.t().contiguous(), -1);
  const Variable positive = truth.to(kDouble).t().gather(1, order);
  const Variable seen = cat({zeros({positive.size(0), 1}, positive.options()), positive.cumsum(1)}, 1);
  const Variable below = searchsorted(sorted, sorted), upto = searchsorted(sorted, sorted, false, true);
  const Variable positives = positive.sum(1, true), n = full_like(positives, positive.size(1));
  const Variable higher = n - below, negatives_below = below - seen.gather(1, below);
  const Variable negatives = 0.5 * (negatives_below + upto - seen.gather(1, upto));
  const Variable auroc = (positive * negatives).sum(1, true) / (positives * (n - positives));
  const Variable precision = (positives - seen.gather(1, below)) / higher;
  const Variable ap = quotient((positive * precision).sum(1, true), positives);
  const Variable nan = full_like(ap, std::numeric_limits<double>::quiet_NaN());
  const Variable undefined = scores.isnan().any(0).unsqueeze(1);
  const Variable table = cat({where(undefined, nan, auroc), where(undefined, nan, ap), positives,
                              wrong.to(kDouble).expand(ap.sizes())},
                             1)
                             .t()
                             .to(Device::CPU);
  const double wrong_targets = table[3][0].item<double>();
  EBB_CHECK(wrong_targets == 0, name_, ": ", wrong_targets, " targets were not from 0 to ", values - 1, ".");
  return table.narrow(0, 0, 3);
}

double Ranking::score(std::int64_t row, Average average) const {
  const Variable table = curves(average == Average::micro), values = table[row];
  if (values.numel() == 1) return values.item<double>();
  return averaged(name_, values, average == Average::weighted ? table[2] : ones_like(values), average);
}

}  // namespace ebb::watch
