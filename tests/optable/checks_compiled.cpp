// Every op of the table as a compiled function: equal bits of values and derivatives for inputs other than
// the recorded ones.
#include <ebb/compile.h>
#include <ebb/core/warning.h>

#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <set>

namespace optable {
namespace {

const std::set<std::string> eager_rows = {
    // The shape of the result depends on values.
    "_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive", "nonzero",
    "nonzero_numpy", "nonzero_static", "nonzero_static.filled", "masked_select", "repeat_interleave",
    "bincount", "bincount.weights", "one_hot",
    // The computation depends on values.
    "allclose", "equal", "prod", "prod.dim", "prod.zeros", "prod.zeros.dim", "cov.weights", "cov.counts",
    "masked_scatter", "segment_reduce", "segment_reduce.mean", "segment_reduce.max", "segment_reduce.prod",
    "segment_reduce.offsets", "lstsq.gelss", "matrix_exp", "matrix_exp.large", "rrelu_with_noise_functional",
    // The function of the row seeds or creates a generator.
    "svd_lowrank", "pca_lowrank", "pca_lowrank.mean", "scaled_dot_product_attention.dropout", "rand_like",
    "randn_like", "randint_like", "dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout",
    "gumbel_softmax", "rand", "randn", "normal", "uniform_", "normal_", "log_normal_", "exponential_",
    "cauchy_", "geometric_", "bernoulli_", "randint", "randperm", "bernoulli", "multinomial", "random_",
    "poisson", "binomial",
    // Memory that ebb did not allocate.
    "from_blob"};

struct Silent : ebb::WarningHandler {
  void process(const ebb::Warning&) override {}
};

variable_list copies(variable_list all) {
  for (Variable& y : all)
    if (y.defined()) y = y.detach().clone();
  return all;
}

// Computes all results of the row: values, gradients, gradients of gradients.
variable_list everything(const Row& row, const variable_list& inputs) {
  const variable_list leaves = with_grad(row, inputs), wanted = leaves_of(leaves);
  variable_list all = row.function(leaves);
  const bool differentiable = row.derivative_order > 0 && !wanted.empty();
  if (differentiable)
    for (const Variable& g : gradients(row, leaves, wanted)) all.push_back(g);
  if (differentiable && row.derivative_order > 1)
    for (const Variable& g : second_gradients(row, leaves, wanted)) all.push_back(g);
  return copies(std::move(all));
}

// Returns other numbers of the same kind, slightly closer to zero.
variable_list varied(const Row& row, const variable_list& inputs, int time) {
  variable_list out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool chosen = row.special_input && row.special_input(0, i).defined();
    out.push_back(inputs[i].is_floating_point() && !chosen ? inputs[i] * (1 - time / 512.0)
                                                           : inputs[i].clone());
  }
  return out;
}

void require_equal_calls(const variable_list& got, const variable_list& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("result " << i);
    REQUIRE(got[i].defined() == expected[i].defined());
    if (got[i].defined()) REQUIRE(same_bits(got[i], expected[i]));
  }
}

// Replaces captured inputs by those of the next sample. A call must notice it even if no kernel reads them,
// for example if the row makes a view, or reads only the shape or the dtype.
void check_replaced(const Row& row, std::size_t sample) {
  INFO("captured inputs are replaced");
  variable_list captured = make_inputs(row, sample);
  const auto function = [&] { return copies(row.function(captured)); };
  auto compiled = ebb::compile(function);
  for (int time = 0; time < 5; ++time) {
    if (time == 4) captured = make_inputs(row, sample + 1);
    ebb::manual_seed(31);
    const variable_list expected = function();
    ebb::manual_seed(31);
    require_equal_calls(compiled(), expected);
  }
}

}  // namespace

bool stays_eager(const std::string& row) { return eager_rows.contains(row); }

void check_compiled(const Row& row) {
  Silent silent;
  const ebb::WarningHandlerGuard guard(&silent);
  std::string reason;  // for some sample
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", compiled, sample " << s);
    const variable_list inputs = make_inputs(row, s);
    auto compiled = ebb::compile([&](const variable_list& x) { return everything(row, x); });
    for (int time = 0; time < 5; ++time) {
      const variable_list now = varied(row, inputs, time);
      ebb::manual_seed(31 + static_cast<std::uint64_t>(time));
      const variable_list expected = everything(row, now);
      ebb::manual_seed(31 + static_cast<std::uint64_t>(time));
      const variable_list got = compiled(now);
      INFO("call " << time);
      require_equal_calls(got, expected);
    }
    const ebb::CompileReport report = compiled.report();
    reason += report.reason;
    if (report.replayed) REQUIRE(report.replays > 0);
    if (s + 1 < row.shape_sets.size()) check_replaced(row, s);
  }
  INFO(row.name << ": " << reason);
  REQUIRE(reason.empty() == !stays_eager(row.name));
}

}  // namespace optable
