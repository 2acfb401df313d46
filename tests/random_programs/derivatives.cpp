// Checks derivatives of programs by moving their arguments along lines.
#include "random_programs/derivatives.h"

#include <ebb/autograd/backward.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>

#include "optable/table.h"
#include "random_programs/generate.h"
#include "random_programs/kinds.h"
#include "support/scopes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <sstream>

namespace programs {
namespace {

// Ops of the table with a second derivative. Fitted operands repeat elements, so their matrices are singular
// and their deviations zero, and nextafter of equal operands changes with neither of them.
bool is_smooth_row(const std::string& name) {
  static const std::set<std::string> smooth = [] {
    std::set<std::string> all;
    for (const optable::Row* row : optable::rows())
      if (row->derivative_order >= 2 && row->kink_values.empty() && row->constants.empty() &&
          !row->name.starts_with("unsafe_") && !row->name.starts_with("lu") &&
          !row->name.starts_with("std") && row->name != "nextafter" &&
          row->name.find("infinity") == std::string::npos && row->name.find("relu") == std::string::npos)
        all.insert(row->name);
    return all;
  }();
  return smooth.contains(name);
}

// Whether the statement may be part of a smooth program. Changes the dtype of created tensors to double.
bool adapt(Statement& s) {
  static const std::set<std::string> kinds = {"make", "op",   "op_",   "view",     "write",
                                              "copy", "join", "parts", "function", "geometry"};
  static const std::set<std::string> names = {"detach",     "detach().clone", "set_data", "relu_",
                                              "clamp_min_", "maximum",        "sub",      "masked_fill_",
                                              "where",      "unsafe_split"};
  if (!kinds.contains(s.kind) || names.contains(s.name) || (s.modes & ~unsigned{kCheckpointed})) return false;
  // An overlapping view cannot be written.
  if (makes_overlapping_view(s)) return false;
  if ((s.kind == "op" || s.kind == "op_") && !is_smooth_row(s.name)) return false;
  if (s.kind == "make") {
    // A quarter of the integer tensors stay, because a program with only integers has no derivatives.
    if (ebb::is_floating(static_cast<ebb::DType>(s.numbers[0])) || s.numbers[1] % 4 != 0)
      s.numbers[0] = static_cast<std::int64_t>(ebb::kDouble);
    // Equal elements are a kink of minima, medians and quantiles.
    if (s.numbers[2] == kExpanded) s.numbers[2] = kWhole;
    s.numbers[3] = false;
  }
  return true;
}

/// The loss L on the line, and its derivative from grad().
class Line {
 public:
  explicit Line(const Program& program) : program_(program) {
    State state = set_up(program_);
    for (const int i : program.arguments)
      if (state.tensor(i).is_floating_point()) {
        slots_.push_back(i);
        points_.push_back(state.tensor(i).clone());
      }
  }
  bool is_empty() const { return points_.empty(); }

  /// Whether every tensor of the program is double and never contains NaN or infinity.
  bool can_be_moved() {
    State state = set_up(program_);
    const auto finite = [&] {
      return std::all_of(state.slots.begin(), state.slots.end(), [](const Slot& slot) {
        const Variable& x = slot.tensor;
        return !x.defined() || !x.is_floating_point() ||
               (x.dtype() == ebb::kDouble && ebb::isfinite(x.detach()).all().item<bool>());
      });
    };
    bool all = finite();
    for (const Statement& s : program_.body) {
      run(state, s);
      all = all && finite();
    }
    return all;
  }

  double value(double t) { return loss(moved(t)).item<double>(); }

  double slope(double t) {
    const Variables x = moved(t, true);
    return along(gradients(loss(x), x, false)).item<double>();
  }

  /// The second derivative, from grad() of grad().
  double curvature() {
    const Variables x = moved(0, true);
    const Variable first = along(gradients(loss(x), x, true));
    if (!first.requires_grad()) return 0;
    return along(gradients(first, x, false)).item<double>();
  }

 private:
  using Variables = ebb::variable_list;

  Variable direction(std::size_t i) {
    return make(points_[i].sizes().vec(), ebb::kDouble, 29 + static_cast<int>(i));
  }

  Variables moved(double t, bool grad = false) {
    Variables x;
    for (std::size_t i = 0; i < points_.size(); ++i)
      x.push_back((points_[i] + direction(i) * t).detach().set_requires_grad(grad));
    return x;
  }

  // No sum of several weights is zero, so kinks cannot cancel.
  static Variable weights(const Variable& y, int seed) {
    return make(y.sizes().vec(), ebb::kDouble, seed).exp();
  }

  // The arguments are copies of x with the memory layout of the setup, because the program may write to them.
  Variable loss(const Variables& x) {
    State state = set_up(program_);
    for (std::size_t i = 0; i < x.size(); ++i) state.tensor(slots_[i]).copy_(x[i]);
    for (const Statement& s : program_.body) run(state, s);
    Variable sum = ebb::zeros({}, ebb::kDouble);
    for (const int i : program_.results) {
      const Variable& y = state.tensor(i);
      if (y.is_floating_point()) sum = sum + (y * weights(y, i)).sum();
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Variable& y = state.tensor(slots_[i]);
      if (y.is_floating_point()) sum = sum + (y * weights(y, 7)).sum();
    }
    return sum;
  }

  static Variables gradients(const Variable& y, const Variables& x, bool create_graph) {
    return ebb::autograd::grad({y}, x, {}, create_graph, create_graph, /*allow_unused=*/true);
  }
  Variable along(const Variables& gradients) {
    Variable sum = ebb::zeros({}, ebb::kDouble);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined()) sum = sum + (gradients[i] * direction(i)).sum();
    return sum;
  }

  const Program& program_;
  std::vector<int> slots_;
  Variables points_;
};

/// f'(0) from central differences, and a bound of its error.
struct Difference {
  double slope = 0, error = std::numeric_limits<double>::infinity();
};

// Richardson extrapolation from two steps, whose difference bounds the truncation error. Rounding adds a few
// units in the last place of f divided by the step. Second differences divided by the step are c h for a
// smooth f, and c h + k for an f with a kink; k counts as an error.
Difference difference(const std::function<double(double)>& f, double step) {
  const double at = f(0), wide[] = {f(-step), f(step)}, near[] = {f(-step / 2), f(step / 2)};
  const double by_wide = (wide[1] - wide[0]) / (2 * step), by_near = (near[1] - near[0]) / step;
  const double rounding = 64 * std::numeric_limits<double>::epsilon() *
                          (std::abs(at) + std::abs(wide[0]) + std::abs(wide[1])) / step;
  const double bent_wide = std::abs(wide[0] + wide[1] - 2 * at) / step,
               bent_near = std::abs(near[0] + near[1] - 2 * at) / (step / 2);
  return {by_near + (by_near - by_wide) / 3,
          2 * std::abs(by_wide - by_near) + std::abs(2 * bent_near - bent_wide) + rounding};
}

// Uses the step with the smallest error: a long step suits sums of large numbers, a short step suits
// functions with a large second derivative. If a function oscillates faster than a step, the estimates are
// wrong in different ways.
Difference difference(const std::function<double(double)>& f) {
  std::vector<Difference> all;
  for (const double step : {0x1p-10, 0x1p-15, 0x1p-20}) all.push_back(difference(f, step));
  Difference best = *std::min_element(
      all.begin(), all.end(), [](const Difference& a, const Difference& b) { return a.error < b.error; });
  const double error = best.error;
  for (const Difference& each : all) {
    const double apart = std::abs(each.slope - best.slope);
    if (!(apart <= each.error + error)) best.error = std::max(best.error, apart);
  }
  return best;
}

// Returns an empty string if the derivative agrees, or if the difference decides nothing. NaN derivatives
// occur in programs with singularities, such as sqrt(x - x).
std::string compared(const char* what, double slope, const Difference& d, std::int64_t* decided) {
  if (!(d.error < 1e-4 * std::abs(d.slope) + 1e-7)) return "";
  if (!std::isfinite(slope)) return "";
  if (decided) ++*decided;
  constexpr double kRounding = 1e-12;  // of sums with terms of order one
  if (std::abs(slope - d.slope) <= 4 * d.error + kRounding) return "";
  std::ostringstream text;
  text << what << " derivative is " << slope << ", finite differences give " << d.slope
       << " with an error of " << d.error << " at most";
  return text.str();
}

}  // namespace

Program generate_smooth(Draw& draw) {
  return generate(draw, {.most = 20, .calls = 1, .large = false, .returns_all = true, .adapt = adapt});
}

std::string wrong_derivative(const Program& program, Decided* decided) {
  const support::Warnings dropped;
  try {
    Line line(program);
    if (line.is_empty() || !line.can_be_moved()) return "";
    std::string wrong =
        compared("the first", line.slope(0), difference([&](double t) { return line.value(t); }),
                 decided ? &decided->first : nullptr);
    if (!wrong.empty()) return wrong;
    return compared("the second", line.curvature(), difference([&](double t) { return line.slope(t); }),
                    decided ? &decided->second : nullptr);
  } catch (const ebb::Error&) {
    return "";  // the last statement of the program throws
  }
}

}  // namespace programs
