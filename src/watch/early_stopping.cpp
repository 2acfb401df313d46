// EarlyStopping.
#include <ebb/autograd/function.h>
#include <ebb/watch/early_stopping.h>

#include <cmath>
#include <limits>

namespace ebb::watch {

EarlyStopping::EarlyStopping(const EarlyStoppingOptions& options)
    : options_(options),
      best_(std::numeric_limits<double>::infinity() * (options.mode() == Mode::min ? 1 : -1)) {
  EBB_CHECK(options.patience() >= 0 && options.min_delta() >= 0 && options.warmup() >= 0,
            "EarlyStopping: patience ", options.patience(), ", min_delta ", options.min_delta(),
            " and warmup ", options.warmup(), " must not be negative.");
}

bool EarlyStopping::step(double value) {
  const std::int64_t step = steps_++;
  if (options_.check_finite() && !std::isfinite(value)) {
    reason_ = ebb::detail::text("The metric is ", value, " at step ", step, ".");
    return true;
  }
  if (step < options_.warmup()) return should_stop();
  const double change = options_.mode() == Mode::min ? best_ - value : value - best_;
  if (change > options_.min_delta()) {
    best_ = value;
    best_step_ = step;
    waited_ = 0;
  } else if (++waited_ >= options_.patience() && options_.patience() > 0) {
    reason_ = ebb::detail::text("The metric has not improved on ", best_, " for ", waited_, " steps.");
  }
  return should_stop();
}

void EarlyStopping::save(serialize::OutputArchive& archive) const {
  archive.write("best", best_);
  archive.write("counts", std::vector<std::int64_t>{best_step_, waited_, steps_});
  archive.write("reason", reason_);
}

void EarlyStopping::load(serialize::InputArchive& archive) {
  autograd::SavedValue best, counts, reason;
  archive.read("best", best);
  archive.read("counts", counts);
  archive.read("reason", reason);
  const std::vector<std::int64_t> numbers = counts.toIntVector();
  EBB_CHECK(numbers.size() == 3, "EarlyStopping::load: expected 3 counts, got ", numbers.size(), ".");
  best_ = best.toDouble();
  best_step_ = numbers[0];
  waited_ = numbers[1];
  steps_ = numbers[2];
  reason_ = reason.toStringRef();
}

}  // namespace ebb::watch
