// L-BFGS: a quasi-Newton method with a limited history of steps.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/linalg/solve.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/optim/lbfgs.h>

#include "optim/fields.h"
#include "optim/line_search.h"
#include "optim/rule_optimizer.h"

#include <algorithm>
#include <charconv>

namespace ebb::optim {

namespace {

std::unique_ptr<OptimizerOptions> checked(const LBFGSOptions& o) {
  check_option("LBFGS", o.lr() >= 0, "learning rate", o.lr());
  check_option("LBFGS", o.history_size() > 0, "history_size", static_cast<double>(o.history_size()));
  EBB_CHECK(!o.line_search_fn() || *o.line_search_fn() == "strong_wolfe",
            "LBFGS: only 'strong_wolfe' is supported, got line_search_fn '", o.line_search_fn().value_or(""),
            "'.");
  return o.clone();
}

double product(const Variable& a, const Variable& b) { return ebb::dot(a, b).item<double>(); }
double largest(const Variable& x) { return x.numel() == 0 ? 0 : x.abs().max().item<double>(); }

/// Access to the parameters as one flat vector.
class Flat {
 public:
  Flat(std::vector<Variable>& parameters, double sign) : parameters_(parameters), sign_(sign) {}

  Variable gradient() const {
    std::vector<Variable> parts;
    for (const Variable& p : parameters_)
      parts.push_back(p.grad().defined() ? p.grad().detach().reshape({-1})
                                         : zeros({p.numel()}, p.options().requires_grad(false)));
    return sign_ < 0 ? cat(parts, 0).neg() : cat(parts, 0);
  }
  std::vector<Variable> values() const {
    std::vector<Variable> copies;
    for (const Variable& p : parameters_) copies.push_back(p.detach().clone());
    return copies;
  }
  void set(const std::vector<Variable>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) parameters_[i].copy_(values[i]);
  }
  void add(double t, const Variable& direction) {
    std::int64_t at = 0;
    for (Variable& p : parameters_) {
      p.add_(direction.narrow(0, at, p.numel()).view_as(p), t);
      at += p.numel();
    }
  }

 private:
  std::vector<Variable>& parameters_;
  double sign_;  // the minimized function is sign_ * loss
};

/// Returns the negative gradient, multiplied by the inverse Hessian that the history approximates.
Variable direction(const LBFGSParamState& state, const Variable& gradient) {
  const std::deque<Variable>&dirs = state.old_dirs(), &steps = state.old_stps();
  const std::size_t n = dirs.size();
  std::vector<double> inverse(n), weight(n);
  for (std::size_t i = 0; i < n; ++i) inverse[i] = 1 / product(dirs[i], steps[i]);
  Variable d = gradient.neg();
  for (std::size_t i = n; i-- > 0;) {
    weight[i] = product(steps[i], d) * inverse[i];
    d.add_(dirs[i], -weight[i]);
  }
  d = d * state.H_diag();
  for (std::size_t i = 0; i < n; ++i) d.add_(steps[i], weight[i] - product(dirs[i], d) * inverse[i]);
  return d;
}

void remember(LBFGSParamState& state, const Variable& gradient, std::int64_t most) {
  const Variable change = gradient - state.prev_flat_grad(), step = state.d() * state.t();
  const double curvature = product(change, step);
  if (!(curvature > 1e-10)) return;  // the loss is not convex along the step, so the pair is not usable
  if (static_cast<std::int64_t>(state.old_dirs().size()) == most) {
    state.old_dirs().pop_front();
    state.old_stps().pop_front();
  }
  state.old_dirs().push_back(change);
  state.old_stps().push_back(step);
  state.H_diag(curvature / product(change, change));
}

void check_one_group(std::size_t groups) {
  EBB_CHECK(groups == 1, "LBFGS doesn't support per-parameter options (parameter groups): got ",
            std::uint64_t{groups}, " groups. Give all parameters in one.");
}

}  // namespace

LBFGS::LBFGS(std::vector<OptimizerParamGroup> param_groups, LBFGSOptions defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {
  check_one_group(param_groups_.size());
}
LBFGS::LBFGS(std::vector<Variable> params, LBFGSOptions defaults)
    : LBFGS({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

Variable LBFGS::step(LossClosure closure) {
  before_step(closure);
  Variable loss = minimize(closure);
  after_step();
  return loss;
}

Variable LBFGS::minimize(const LossClosure& closure) {
  EBB_CHECK(
      closure,
      "LBFGS: step() needs a closure that clears the gradients, computes the loss and calls backward().");
  check_one_group(param_groups_.size());  // checked again, because add_param_group() may have added groups
  NoGradGuard no_grad;
  const auto& o = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  std::vector<Variable>& parameters = param_groups_[0].params();
  EBB_CHECK(!parameters.empty(), "LBFGS: there are no parameters.");
  const std::int64_t most_evaluations = o.max_eval().value_or(o.max_iter() * 5 / 4);
  auto& state = state_of<LBFGSParamState>(parameters[0]);
  const double sign = o.maximize() ? -1 : 1;
  Flat flat(parameters, sign);

  const Variable first_loss = run(closure);
  double loss = sign * first_loss.item<double>();
  std::int64_t evaluations = 1;
  ++state.func_evals();
  Variable gradient = flat.gradient();
  if (largest(gradient) <= o.tolerance_grad()) return first_loss;

  for (std::int64_t i = 1; i <= o.max_iter(); ++i) {
    const bool first = ++state.n_iter() == 1;
    if (!first) remember(state, gradient, o.history_size());
    state.d(direction(state, gradient));
    state.prev_flat_grad(gradient);
    state.prev_loss(loss);
    state.t(first ? std::min(1.0, 1 / gradient.abs().sum().item<double>()) * o.lr() : o.lr());
    const double slope = product(gradient, state.d());
    if (slope > -o.tolerance_change()) break;

    std::int64_t more = 0;
    if (o.line_search_fn()) {
      const std::vector<Variable> origin = flat.values();
      const auto evaluate = [&](double t) {
        flat.add(t, state.d());
        LinePoint point{t, sign * run(closure).item<double>(), flat.gradient(), 0};
        point.slope = product(point.grad, state.d());
        flat.set(origin);
        ++more;
        return point;
      };
      const LinePoint found =
          strong_wolfe(evaluate, {0, loss, gradient, slope}, state.t(), largest(state.d()));
      loss = found.loss;
      gradient = found.grad;
      state.t(found.t);
      flat.add(found.t, state.d());
    } else {
      flat.add(state.t(), state.d());
      if (i != o.max_iter()) {
        loss = sign * run(closure).item<double>();
        gradient = flat.gradient();
        more = 1;
      }
    }
    evaluations += more;
    state.func_evals() += more;
    if (i == o.max_iter() || evaluations >= most_evaluations || largest(gradient) <= o.tolerance_grad() ||
        largest(state.d() * state.t()) <= o.tolerance_change() ||
        std::abs(loss - state.prev_loss()) < o.tolerance_change())
      break;
  }
  return first_loss;
}

std::unique_ptr<OptimizerParamState> LBFGS::new_state() const { return std::make_unique<LBFGSParamState>(); }

void LBFGSParamState::serialize(serialize::OutputArchive& archive) const {
  const auto write = [&](const char* name, const auto& field) { write_field(archive, name, field); };
  write("func_evals", func_evals_);
  write("n_iter", n_iter_);
  write("t", t_);
  write("prev_loss", prev_loss_);
  write("H_diag", H_diag_);
  write("d", d_);
  write("prev_flat_grad", prev_flat_grad_);
  for (std::size_t i = 0; i < old_dirs_.size(); ++i) {
    archive.write("old_dirs." + std::to_string(i), old_dirs_[i]);
    archive.write("old_stps." + std::to_string(i), old_stps_[i]);
  }
}

bool operator==(const LBFGSParamState& a, const LBFGSParamState& b) {
  const auto same = [](const std::deque<Variable>& x, const std::deque<Variable>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_field<Variable>);
  };
  return a.func_evals() == b.func_evals() && a.n_iter() == b.n_iter() && a.t() == b.t() &&
         a.prev_loss() == b.prev_loss() && a.H_diag() == b.H_diag() && same_field(a.d(), b.d()) &&
         same_field(a.prev_flat_grad(), b.prev_flat_grad()) && same(a.old_dirs(), b.old_dirs()) &&
         same(a.old_stps(), b.old_stps());
}

void LBFGSParamState::serialize(serialize::InputArchive& archive) {
  for (const auto& [name, value] : archive.tensors()) load(name, value);
}

void LBFGSParamState::load(const std::string& name, const Variable& value) {
  const auto listed = [&](const std::string& prefix, std::deque<Variable>& list) {
    if (name.rfind(prefix, 0) != 0) return false;
    std::size_t at = 0;
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + prefix.size(), end, at);
    if (parsed.ec != std::errc() || parsed.ptr != end || at > 1'000'000) return false;
    if (list.size() <= at) list.resize(at + 1);
    list[at] = value;
    return true;
  };
  if (name == "func_evals")
    func_evals_ = value.item<std::int64_t>();
  else if (name == "n_iter")
    n_iter_ = value.item<std::int64_t>();
  else if (name == "t")
    t_ = value.item<double>();
  else if (name == "prev_loss")
    prev_loss_ = value.item<double>();
  else if (name == "H_diag")
    H_diag_ = value.item<double>();
  else if (name == "d")
    d_ = value;
  else if (name == "prev_flat_grad")
    prev_flat_grad_ = value;
  else if (!listed("old_dirs.", old_dirs_) && !listed("old_stps.", old_stps_))
    unknown_state("LBFGS", name);
}

template <>
struct Kind<LBFGSOptions> {
  static constexpr const char* kName = "LBFGS";
  static void check(const LBFGSOptions& o) { checked(o); }
  template <class O, class F>
  static void options(O& o, const F& f) {
    f("lr", o.lr());
    f("max_iter", o.max_iter());
    f("max_eval", o.max_eval());
    f("tolerance_grad", o.tolerance_grad());
    f("tolerance_change", o.tolerance_change());
    f("history_size", o.history_size());
    f("line_search_fn", o.line_search_fn());
    f("maximize", o.maximize());
  }
};

template class OptimizerCloneableOptions<LBFGSOptions>;
template class RuleOptions<LBFGSOptions>;
template class OptimizerCloneableParamState<LBFGSParamState>;

}  // namespace ebb::optim
