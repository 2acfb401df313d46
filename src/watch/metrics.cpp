// Metric, Mean, Perplexity and Regression: the state of a metric, and means of numbers.
#include "watch/metrics.h"

#include <ebb/ops/elementwise.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include <cmath>
#include <limits>
#include <string>

namespace ebb::watch {

Metric::~Metric() = default;
Metric::Metric(Metric&&) noexcept = default;
Metric& Metric::operator=(Metric&&) noexcept = default;

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
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i].add_(other[i].to(state_[i].device()));
}

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

namespace {

// Returns the rows of Regression's state for both samples together: counts, means, sums of squared distances
// from the mean, sums of squared errors and of absolute errors.
Variable joined(const Variable& a, const Variable& b) {
  const Variable n = a[0] + b[0], part = b[0] / n.clamp_min(1), distance = b[1] - a[1];
  return stack(
      {n, a[1] + distance * part, a[2] + b[2] + distance.square() * a[0] * part, a[3] + b[3], a[4] + b[4]});
}

}  // namespace

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

void Regression::combine(const std::vector<Variable>& other) {
  EBB_CHECK(other.size() == 1 && other[0].sizes() == state_[0].sizes(), name_,
            ": the other state is of another metric, or of other options.");
  state_[0].copy_(joined(state_[0], other[0].to(state_[0].device())));
}

std::array<double, 4> Regression::errors() const {
  const Variable s = state_[0].to(Device::CPU), n = s[0], mse = s[3] / n;
  EBB_CHECK(n[0].item<double>() > 0, name_, ": there is no sample. Call update() first.");
  Variable r2 = where(s[2].eq(0), s[3].eq(0).to(kDouble), 1 - s[3] / s[2]);
  if (n[0].item<double>() < 2) r2 = full_like(r2, std::numeric_limits<double>::quiet_NaN());
  const auto mean = [](const Variable& x) { return x.mean().item<double>(); };
  return {mean(mse), mean(mse.sqrt()), mean(s[4] / n), mean(r2)};
}

}  // namespace ebb::watch
