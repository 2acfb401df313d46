// Metrics: states that ops change on the device of the batches, so that nothing waits before a value is read.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/watch/metrics.h>

#include <cmath>
#include <limits>
#include <string>

namespace ebb::watch {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Records no graph, and makes no inference tensors, which could not be changed after an InferenceMode.
struct StateModes {
  InferenceMode normal{false};
  NoGradGuard no_grad;
};

Variable zero_state(IntArrayRef sizes, DType dtype) {
  const StateModes modes;
  return zeros(sizes, dtype);
}

Variable quotient(const Variable& a, const Variable& b) { return where(b.eq(0), zeros_like(b), a / b); }

// Returns the rows of Classification::per_class() for correct, predicted and true counts.
Variable scores_of(const Variable& c) {
  return stack({quotient(c[0], c[1]), quotient(c[0], c[2]), quotient(2 * c[0], c[1] + c[2]), c[2]});
}

// Returns the average of a row of per_class(), whose last row has the numbers of true samples. Classes for
// which `counted` is 0 are left out.
double averaged(const char* name, const Variable& table, std::int64_t row, const Variable& counted,
                Average average) {
  const Variable values = table[row], weights = average == Average::weighted ? table[-1] : counted;
  if (average != Average::binary)
    return ((values * weights).sum() / weights.sum().clamp_min(1)).item<double>();
  EBB_CHECK(values.numel() == 2, name, ": the average binary needs 2 classes, but there are ", values.numel(),
            ". Use macro, weighted or micro.");
  return values[1].item<double>();
}

}  // namespace

const std::vector<Variable>& Metric::state_for(const Variable& predictions, const Variable& targets) {
  EBB_CHECK(predictions.defined() && targets.defined(), name_, "::update: a tensor is undefined.");
  EBB_CHECK(predictions.device() == targets.device(), name_, "::update: expected tensors on one device, got ",
            predictions, " and ", targets, ". Move one of them with .to(device).");
  for (Variable& tensor : state_)
    if (tensor.device() != targets.device()) tensor = tensor.to(targets.device());
  return state_;
}

void Metric::reset() {
  const StateModes modes;
  for (const Variable& tensor : state_) tensor.zero_();
}

void Metric::merge(const Metric& other) {
  EBB_CHECK(std::string_view(name_) == other.name_ && this != &other, name_, "::merge: expected another ",
            name_, ", got ", this == &other ? "the same object." : other.name_);
  const StateModes modes;
  combine(other.state_);
}

void Metric::combine(const std::vector<Variable>& other) {
  bool fits = other.size() == state_.size();
  for (std::size_t i = 0; fits && i < other.size(); ++i)
    fits = other[i].sizes() == state_[i].sizes() && other[i].dtype() == state_[i].dtype();
  EBB_CHECK(fits, name_, ": the other state is of another metric, or of other options.");
  for (std::size_t i = 0; i < state_.size(); ++i)
    state_[i].copy_(joined(state_[i], other[i].to(state_[i].device())));
}

Variable Metric::joined(const Variable& a, const Variable& b) const { return a + b; }

void Metric::save(serialize::OutputArchive& archive) const {
  for (std::size_t i = 0; i < state_.size(); ++i) archive.write(std::to_string(i), state_[i]);
}

void Metric::load(serialize::InputArchive& archive) {
  const StateModes modes;
  std::vector<Variable> read;
  for (Variable tensor; archive.try_read(std::to_string(read.size()), tensor); tensor = {})
    read.push_back(tensor);
  reset();
  combine(read);
}

Mean::Mean(const char* name, std::int64_t window)
    : Metric(name, {zero_state({2, window > 0 ? window : 1}, kDouble)}), window_(window) {
  EBB_CHECK(window >= 0, name, ": the window is ", window, ". Use the number of updates, or 0 for all.");
}

void Mean::add(const Variable& sum, const Variable& weight) {
  const Variable& state = state_for(sum, weight)[0];
  const Variable entry = stack({sum, weight}).unsqueeze(1);
  if (window_ == 0)
    state.add_(entry);
  else
    state.copy_(cat({state.narrow(1, 1, window_ - 1), entry}, 1));
}

void Mean::update(double value, double weight) {
  const StateModes modes;
  const TensorOptions options = state_[0].options();
  add(full({}, value * weight, options), full({}, weight, options));
}

void Mean::update(const Variable& values, const Variable& weight) {
  const StateModes modes;
  state_for(values, weight.defined() ? weight : values);
  const Variable x = values.to(kDouble);
  const Variable w = weight.defined() ? weight.to(kDouble).expand(x.sizes()) : ones_like(x);
  add((x * w).sum(), w.sum());
}

double Mean::value() const {
  const Variable state = state_[0].to(Device::CPU).sum(1);
  EBB_CHECK(state[1].item<double>() != 0, name_, "::value: there is no value, or the weights sum to 0.");
  return (state[0] / state[1]).item<double>();
}

void Perplexity::update(const Variable& logits, const Variable& targets) {
  const StateModes modes;
  state_for(logits, targets);
  EBB_CHECK(logits.is_floating_point() && logits.dim() == targets.dim() + 1 &&
                logits.sizes().slice(0, static_cast<std::size_t>(targets.dim())) == targets.sizes(),
            name_, "::update: expected logits [..., classes] of a floating dtype and targets [...], got ",
            logits, " and ", targets, ".");
  const Variable rows = logits.reshape({-1, logits.size(-1)}), classes = targets.reshape({-1}).to(kLong);
  const Variable losses = nll_loss(log_softmax(rows, 1, logits.dtype() == kDouble ? kDouble : kFloat),
                                   classes, {}, Reduction::None, ignore_);
  add(losses.sum(kDouble), classes.ne(ignore_).sum().to(kDouble));
}

double Perplexity::value() const { return std::exp(Mean::value()); }

Regression::Regression(std::int64_t outputs) : Metric("Regression", {zero_state({5, outputs}, kDouble)}) {
  EBB_CHECK(outputs > 0, "Regression: expected 1 or more outputs, got ", outputs, ".");
}

void Regression::update(const Variable& predictions, const Variable& targets) {
  const StateModes modes;
  const Variable& state = state_for(predictions, targets)[0];
  const std::int64_t outputs = state.size(1);
  EBB_CHECK(predictions.sizes() == targets.sizes() && (outputs == 1 || targets.dim() == 2) &&
                (outputs == 1 || targets.size(1) == outputs),
            name_, "::update: expected predictions and targets of one shape, with ", outputs,
            " columns if there are several outputs, got ", predictions, " and ", targets, ".");
  if (targets.numel() == 0) return;
  const Variable y = targets.to(kDouble).reshape({-1, outputs});
  const Variable error = predictions.to(kDouble).reshape({-1, outputs}) - y;
  // The distances from the first sample are exactly 0 for a constant target.
  const Variable shifted = y - y[0], mean = shifted.mean(0);
  const Variable batch = stack({full_like(mean, static_cast<double>(y.size(0))), y[0] + mean,
                                (shifted - mean).square().sum(0), error.square().sum(0), error.abs().sum(0)});
  state.copy_(joined(state, batch));
}

// The rows are counts, means, sums of squared distances from the mean, of squared errors, and of absolute
// errors.
Variable Regression::joined(const Variable& a, const Variable& b) const {
  const Variable n = a[0] + b[0], part = b[0] / n.clamp_min(1), distance = b[1] - a[1];
  return stack(
      {n, a[1] + distance * part, a[2] + b[2] + distance.square() * a[0] * part, a[3] + b[3], a[4] + b[4]});
}

std::array<double, 4> Regression::errors() const {
  const Variable s = state_[0].to(Device::CPU), n = s[0], mse = s[3] / n;
  EBB_CHECK(n[0].item<double>() > 0, name_, ": there is no sample. Call update() first.");
  Variable r2 = where(s[2].eq(0), s[3].eq(0).to(kDouble), 1 - s[3] / s[2]);
  if (n[0].item<double>() < 2) r2 = full_like(r2, kNaN);
  const auto mean = [](const Variable& x) { return x.mean().item<double>(); };
  return {mean(mse), mean(mse.sqrt()), mean(s[4] / n), mean(r2)};
}

// The state has correct, predicted, true and top-k counts of classes, then the pairs of classes. After the n
// classes come two counters: n is for wrong classes, n + 1 for samples that are not counted.
Classification::Classification(const ClassificationOptions& options)
    : Metric("Classification", {}), options_(options) {
  const std::int64_t n = options.num_classes();
  EBB_CHECK(n >= 2, name_, ": expected 2 or more classes, got ", n, ".");
  EBB_CHECK(options.top_k() >= 1 && options.top_k() <= n, name_, ": top_k is ", options.top_k(),
            "; expected 1 to ", n, ", the number of classes.");
  state_.push_back(zero_state({4, n + 2}, kLong));
  if (options.confusion_matrix()) state_.push_back(zero_state({n * n + 1}, kLong));
}

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
  const Variable wrong = full({}, n, target.options()), uncounted = wrong + 1;
  const auto classes = [&](const Variable& x) {
    const Variable valid = where(x.lt(0).logical_or(x.ge(n)), wrong, x);
    return options_.ignore_index() ? where(target.eq(*options_.ignore_index()), uncounted, valid) : valid;
  };
  predicted = classes(predicted);
  target = classes(target);
  const auto count = [](const Variable& counts, const Variable& index) {
    counts.scatter_add_(-1, index, ones({1}, counts.options()).expand(index.sizes()));
  };
  const auto target_if = [&](const Variable& condition) { return where(condition, target, uncounted); };
  count(state[0],
        stack({target_if(predicted.eq(target)), predicted, target, target_if(near)}).reshape({4, -1}));
  if (!options_.confusion_matrix()) return;
  const Variable counted = predicted.lt(n).logical_and(target.lt(n));
  count(state[1], where(counted, target * n + predicted, full_like(target, n * n)).reshape({-1}));
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

double Classification::part(std::int64_t row) const {
  const Variable c = counts();
  return (c[row].sum() / c[2].sum()).item<double>();
}

double Classification::balanced_accuracy() const {
  const Variable c = counts();
  return averaged(name_, scores_of(c), 1, c[2].gt(0).to(kDouble), Average::macro);
}

Variable Classification::per_class() const { return scores_of(counts()); }

double Classification::score(std::int64_t row, Average average) const {
  if (average == Average::micro) return accuracy();  // each sample has one predicted and one true class
  const Variable c = counts();
  return averaged(name_, scores_of(c), row, (c[1] + c[2]).gt(0).to(kDouble), average);
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
  Variable scores = state_.empty() ? zeros({0}) : cat(batches[0]);
  EBB_CHECK(scores.numel() > 0, name_, ": there is no sample. Call update() first.");
  Variable truth = cat(batches[1]);
  const bool against_rest = truth.dim() < scores.dim();
  const std::int64_t values = against_rest ? scores.size(1) : 2;
  const Variable wrong = truth.lt(0).logical_or(truth.ge(values)).sum();
  if (against_rest) truth = truth.unsqueeze(1).eq(arange(values, truth.options()));
  if (together || scores.dim() == 1) scores = scores.reshape({-1, 1}), truth = truth.reshape({-1, 1});

  // Ties are one threshold: `below` counts the smaller scores of each score, `upto` also the equal ones.
  const auto [sorted, order] = sort(scores.t().contiguous(), -1);
  const Variable positive = truth.to(kDouble).t().gather(1, order), p = positive.sum(1, true);
  const Variable below = searchsorted(sorted, sorted), upto = searchsorted(sorted, sorted, false, true);
  const Variable n = full_like(p, positive.size(1)),
                 smaller = (positive.cumsum(1) - positive).gather(1, below);
  // The U statistic of Mann and Whitney (1947), from the mean ranks of equal scores.
  const Variable u = (positive * (0.5 * (below + upto + 1))).sum(1, true) - 0.5 * p * (p + 1);
  const Variable precision = (p - smaller) / (n - below);
  const Variable areas = cat({u / (p * (n - p)), quotient((positive * precision).sum(1, true), p)}, 1);
  const Variable nan = full({}, kNaN, p.options()), is_undefined = scores.isnan().any(0).unsqueeze(1);
  const Variable table =
      cat({where(is_undefined, nan, areas), p, wrong.to(kDouble).expand(p.sizes())}, 1).t().to(Device::CPU);
  const double wrong_targets = table[3][0].item<double>();
  EBB_CHECK(wrong_targets == 0, name_, ": ", wrong_targets, " targets were not from 0 to ", values - 1, ".");
  return table.narrow(0, 0, 3);
}

double Ranking::score(std::int64_t row, Average average) const {
  const Variable table = curves(average == Average::micro);
  if (table.size(1) == 1) return table[row].item<double>();
  return averaged(name_, table, row, ones_like(table[row]), average);
}

}  // namespace ebb::watch
