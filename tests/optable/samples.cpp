// Creates the inputs of rows, changes their layouts, and compares results.
#include "optable/samples.h"

#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// Creates the inputs of rows, and compares results.

namespace optable {
namespace {

bool is_constant(const Row& row, std::size_t i) {
  return std::find(row.constants.begin(), row.constants.end(), i) != row.constants.end();
}

bool close(double got, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  if (got == expected) return true;
  return std::abs(got - expected) <= tolerance * (1 + std::abs(expected));
}

class Numbers {
 public:
  explicit Numbers(std::size_t seed) : state_(0x9E3779B97F4A7C15ull * (seed + 1)) {}
  /// Returns a number in [0, 1).
  double next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }

 private:
  std::uint64_t state_;
};

Variable integers(const IntegerInput& kind, const Sizes& sizes, Numbers& numbers) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(ebb::checked_numel(sizes)));
  for (std::int64_t& v : values)
    v = kind.low + static_cast<std::int64_t>(static_cast<double>(kind.high - kind.low) * numbers.next());
  const Variable x = ebb::tensor(values, ebb::kLong).view(sizes);
  return kind.boolean ? x.to(ebb::kBool) : x;
}

Variable reals(const Row& row, std::size_t input, const Sizes& sizes, Numbers& numbers) {
  const auto [low, high] =
      row.ranges.empty() ? std::pair(-2.0, 2.0) : row.ranges[std::min(input, row.ranges.size() - 1)];
  std::vector<double> values(static_cast<std::size_t>(ebb::checked_numel(sizes)));
  for (double& v : values) {
    const auto near = [&v](double kink) { return std::abs(v - kink) < 0.02; };
    do v = low + (high - low) * numbers.next();
    while (std::any_of(row.kink_values.begin(), row.kink_values.end(), near));
  }
  return ebb::tensor(values, ebb::kF64).view(sizes);
}

}  // namespace

variable_list make_inputs(const Row& row, std::size_t sample) {
  variable_list inputs;
  Numbers numbers(sample);
  const auto& sizes = row.shape_sets[sample];
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto integer = std::find_if(row.integer_inputs.begin(), row.integer_inputs.end(),
                                      [i](const IntegerInput& x) { return x.input == i; });
    const Variable special = row.special_input ? row.special_input(sample, i) : Variable();
    if (special.defined())
      inputs.push_back(special);
    else if (integer != row.integer_inputs.end())
      inputs.push_back(integers(*integer, sizes[i], numbers));
    else
      inputs.push_back(reals(row, i, sizes[i], numbers));
  }
  return inputs;
}

variable_list to(const variable_list& inputs, ebb::DType dtype) {
  variable_list out;
  for (const Variable& x : inputs) out.push_back(x.is_floating_point() ? x.to(dtype) : x);
  return out;
}

variable_list with_grad(const Row& row, variable_list inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_floating_point() && !is_constant(row, i))
      inputs[i] = inputs[i].detach().clone().requires_grad_();
  return inputs;
}

variable_list leaves_of(const variable_list& inputs) {
  variable_list leaves;
  for (const Variable& x : inputs)
    if (x.requires_grad()) leaves.push_back(x);
  return leaves;
}

Row::Function differentiable_part(const Row& row) {
  return [&row](const variable_list& x) {
    variable_list out;
    for (Variable& y : row.function(x))
      if (y.is_floating_point()) out.push_back(y);
    return out;
  };
}

Variable seed_for(const Variable& y, std::size_t period) {
  std::vector<double> seed(static_cast<std::size_t>(y.numel()));
  for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<double>(i % period + 5) / 32;
  return ebb::tensor(seed, ebb::kF64).view(y.sizes()).to(y.options());
}

variable_list differentiable_outputs(const Row& row, const variable_list& inputs) {
  variable_list out;
  for (const Variable& y : differentiable_part(row)(inputs))
    if (y.requires_grad()) out.push_back(y);
  return out;
}

variable_list gradients(const Row& row, const variable_list& inputs, const variable_list& wanted) {
  const variable_list outputs = differentiable_outputs(row, inputs);
  if (outputs.empty()) return variable_list(wanted.size());
  variable_list seeds;
  for (const Variable& y : outputs) seeds.push_back(seed_for(y));
  return ebb::autograd::grad(outputs, wanted, seeds, false, false, true);
}

variable_list results(const Row& row, const variable_list& inputs) {
  variable_list out = row.function(inputs);
  const variable_list leaves = with_grad(row, inputs), wanted = leaves_of(leaves);
  if (row.derivative_order > 0 && !wanted.empty())
    for (const Variable& g : gradients(row, leaves, wanted)) out.push_back(g);
  return out;
}

variable_list second_gradients(const Row& row, const variable_list& inputs, const variable_list& wanted) {
  const variable_list outputs = differentiable_outputs(row, inputs);
  variable_list targets = wanted, seeds, firsts, directions;
  for (const Variable& y : outputs) {
    seeds.push_back(seed_for(y).requires_grad_());
    targets.push_back(seeds.back());
  }
  if (!outputs.empty())
    for (const Variable& g : ebb::autograd::grad(outputs, wanted, seeds, true, true, true)) {
      if (!g.defined() || !g.requires_grad()) continue;
      firsts.push_back(g);
      directions.push_back(seed_for(g, 53));
    }
  if (firsts.empty()) return variable_list(targets.size());
  return ebb::autograd::grad(firsts, targets, directions, false, false, true);
}

Array to_array(const Variable& x) {
  const Variable flat = x.detach().to(ebb::kCPU, ebb::kF64).contiguous();
  const double* p = flat.data_ptr<double>();
  return {Sizes(x.sizes().begin(), x.sizes().end()), std::vector<double>(p, p + flat.numel())};
}

void require_close(const Variable& got, const Array& expected, double tolerance) {
  REQUIRE(got.sizes() == ebb::IntArrayRef(expected.sizes));
  const Array values = to_array(got);
  for (std::size_t i = 0; i < values.values.size(); ++i) {
    if (close(values[i], expected[i], tolerance)) continue;
    INFO("element " << i << ": got " << values[i] << ", expected " << expected[i]);
    REQUIRE(false);
  }
}

void require_same(const variable_list& got, const variable_list& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("output or gradient " << i);
    REQUIRE(got[i].defined() == expected[i].defined());
    if (got[i].defined()) require_close(got[i], to_array(expected[i]), tolerance);
  }
}

bool same_bits(const Variable& a, const Variable& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  const Variable x = a.detach().contiguous(), y = b.detach().contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

void require_same_bits(const variable_list& got, const variable_list& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("output or gradient " << i);
    REQUIRE(got[i].defined() == expected[i].defined());
    if (got[i].defined()) REQUIRE(same_bits(got[i], expected[i]));
  }
}

// Other layouts of inputs: transposed, stepped, offset, channels-last, expanded.

namespace {

Variable transposed(const Variable& x) {
  return x.dim() < 2 ? x.clone() : x.transpose(0, x.dim() - 1).contiguous().transpose(0, x.dim() - 1);
}
Variable stepped(const Variable& x) {
  if (x.dim() == 0) return x.clone();
  Sizes twice(x.sizes().begin(), x.sizes().end());
  twice.back() *= 2;
  const Variable view = ebb::zeros(twice, x.options()).slice(-1, 0, twice.back(), 2);
  return view.copy_(x);
}
Variable offset(const Variable& x) {
  const Variable view = ebb::zeros({x.numel() + 3}, x.options()).slice(0, 3).view(x.sizes());
  return view.copy_(x);
}
Variable channels_last(const Variable& x) {
  return x.dim() == 4 ? x.contiguous(ebb::MemoryFormat::ChannelsLast) : x.clone();
}
// Returns equal slices along the first dimension, as one expanded slice.
Variable expanded(const Variable& x) {
  return x.dim() == 0 || x.size(0) == 0 ? x.clone() : x.slice(0, 0, 1).clone().expand(x.sizes());
}

}  // namespace

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {{"transposed", transposed, false},
                                          {"stepped", stepped, false},
                                          {"offset", offset, false},
                                          {"channels last", channels_last, false},
                                          {"expanded", expanded, true}};
  return all;
}

variable_list laid_out_results(const Row& row, const variable_list& inputs) {
  variable_list leaves, out = row.function(inputs);
  if (row.derivative_order == 0) return out;
  const variable_list differentiable = with_grad(row, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    leaves.push_back(inputs[i].detach());
    if (differentiable[i].requires_grad()) leaves.back().requires_grad_();
  }
  for (const Variable& g : gradients(row, leaves, leaves_of(leaves))) out.push_back(g);
  return out;
}

}  // namespace optable
