#include "optable/checks.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace optable {
namespace {

bool is_constant(const Row& row, std::size_t i) {
  return std::find(row.constants.begin(), row.constants.end(), i) != row.constants.end();
}

Array to_array(const Variable& x) {
  const Variable flat = x.detach().to(ebb::kF64).contiguous();
  const double* p = flat.data_ptr<double>();
  return {Sizes(x.sizes().begin(), x.sizes().end()), std::vector<double>(p, p + flat.numel())};
}

bool close(double got, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  if (got == expected) return true;
  return std::abs(got - expected) <= tolerance * (1 + std::abs(expected));
}

void require_close(const Variable& got, const Array& expected, double tolerance) {
  REQUIRE(got.sizes() == ebb::IntArrayRef(expected.sizes));
  const Array values = to_array(got);
  for (std::size_t i = 0; i < values.values.size(); ++i) {
    if (close(values[i], expected[i], tolerance)) continue;
    INFO("element " << i << ": got " << values[i] << ", the reference says " << expected[i]);
    REQUIRE(false);
  }
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

bool any_differentiable(const variable_list& inputs) {
  for (const Variable& x : inputs)
    if (x.requires_grad() && x.numel() > 0) return true;
  return false;
}

Row::Function differentiable_part(const Row& row) {
  return [&row](const variable_list& x) {
    variable_list out;
    for (Variable& y : row.function(x))
      if (y.is_floating_point()) out.push_back(y);
    return out;
  };
}

variable_list gradients(const Row& row, const variable_list& inputs, const variable_list& wanted) {
  Variable total;
  for (const Variable& y : differentiable_part(row)(inputs)) {
    if (!y.requires_grad()) continue;
    // Weights that differ, so that a permuted gradient shows.
    const Variable weights = (ebb::arange(y.numel(), y.options()) * 0.1 + 0.3).view(y.sizes());
    const Variable part = (y * weights).sum();
    total = total.defined() ? total + part : part;
  }
  if (!total.defined()) return variable_list(wanted.size());
  return ebb::autograd::grad({total}, wanted, {}, false, false, true);
}

bool same_bits(const Variable& a, const Variable& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  const Variable x = a.detach().contiguous(), y = b.detach().contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

}  // namespace

variable_list make_inputs(const Row& row, std::size_t sample) {
  const auto& sizes = row.shape_sets[sample];
  variable_list inputs;
  std::uint64_t state = 0x9E3779B97F4A7C15ull * (sample + 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (row.special_input)
      if (Variable x = row.special_input(sample, i); x.defined()) {
        inputs.push_back(x);
        continue;
      }
    const auto [low, high] =
        row.ranges.empty() ? std::pair(-2.0, 2.0) : row.ranges[std::min(i, row.ranges.size() - 1)];
    std::vector<double> values(static_cast<std::size_t>(ebb::checked_numel(sizes[i])));
    for (double& v : values) {
      bool near_kink;
      do {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        v = low + (high - low) * static_cast<double>(state >> 11) / 9007199254740992.0;
        near_kink = false;
        for (const double k : row.kink_values) near_kink |= std::abs(v - k) < 0.02;
      } while (near_kink);
    }
    inputs.push_back(ebb::tensor(values, ebb::kF64).view(sizes[i]));
  }
  return inputs;
}

void check_forward(const Row& row) {
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", sample " << s);
    const variable_list inputs = make_inputs(row, s);
    const variable_list out = row.function(inputs);
    std::vector<Array> expected;
    if (row.reference_function) {
      std::vector<Array> arrays;
      for (const Variable& x : inputs) arrays.push_back(to_array(x));
      expected = row.reference_function(arrays);
      REQUIRE(expected.size() <= out.size());
      for (std::size_t o = 0; o < expected.size(); ++o) require_close(out[o], expected[o], 1e-11);
    } else {
      for (const Variable& y : out) expected.push_back(to_array(y));
    }
    // f32 sees rounded inputs: its reference does too.
    const variable_list rounded = to(inputs, ebb::kF32);
    const variable_list exact = row.function(to(rounded, ebb::kF64));
    const variable_list single = row.function(rounded);
    for (std::size_t o = 0; o < single.size(); ++o) {
      if (out[o].is_floating_point()) CHECK(single[o].dtype() == ebb::kF32);
      require_close(single[o], to_array(exact[o]), row.float_tolerance);
    }
  }
}

void check_derivatives(const Row& row) {
  if (row.derivative_order == 0) {
    REQUIRE_FALSE(row.reason.empty());
    return;
  }
  if (row.derivative_order == 1) REQUIRE_FALSE(row.reason.empty());
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", sample " << s);
    const variable_list inputs = with_grad(row, make_inputs(row, s));
    if (!any_differentiable(inputs)) continue;
    ebb::GradcheckOptions options;
    std::int64_t elements = 0;
    for (const Variable& x : inputs) elements += x.numel();
    options.fast_mode = elements > 64;
    REQUIRE(ebb::gradcheck(differentiable_part(row), inputs, options));
    if (row.derivative_order >= 2) REQUIRE(ebb::gradgradcheck(differentiable_part(row), inputs, {}, options));
  }
}

void check_layouts(const Row& row) {
  const auto transposed = [](const Variable& x) {
    return x.dim() < 2 ? x : x.transpose(0, x.dim() - 1).contiguous().transpose(0, x.dim() - 1);
  };
  const auto stepped = [](const Variable& x) {
    if (x.dim() == 0) return x;
    Sizes twice(x.sizes().begin(), x.sizes().end());
    twice.back() *= 2;
    Variable wide = ebb::zeros(twice, x.options());
    Variable view = wide.slice(-1, 0, twice.back(), 2);
    view.copy_(x);
    return view;
  };
  const auto offset = [](const Variable& x) {
    Variable longer = ebb::zeros({x.numel() + 3}, x.options());
    Variable view = longer.slice(0, 3).view(x.sizes());
    view.copy_(x);
    return view;
  };
  const std::pair<const char*, std::function<Variable(const Variable&)>> layouts[] = {
      {"transposed", transposed}, {"stepped", stepped}, {"offset", offset}};
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    const variable_list inputs = make_inputs(row, s);
    const variable_list expected = row.function(inputs);
    const variable_list leaves = with_grad(row, inputs);
    variable_list wanted;
    for (const Variable& x : leaves)
      if (x.requires_grad()) wanted.push_back(x);
    const bool derive = row.derivative_order > 0 && !wanted.empty();
    const variable_list expected_grads = derive ? gradients(row, leaves, wanted) : variable_list{};
    for (const auto& [name, layout] : layouts) {
      INFO(row.name << ", sample " << s << ", " << name);
      variable_list other, sources;
      for (const Variable& x : inputs) {
        Variable leaf = x.detach().clone();
        other.push_back(layout(leaf));
        REQUIRE(ebb::equal(other.back(), x));
      }
      const variable_list got = row.function(other);
      for (std::size_t o = 0; o < got.size(); ++o) require_close(got[o], to_array(expected[o]), 1e-12);
      if (!derive) continue;
      for (std::size_t i = 0; i < other.size(); ++i)
        if (leaves[i].requires_grad()) sources.push_back(other[i] = other[i].detach().requires_grad_());
      const variable_list grads = gradients(row, other, sources);
      for (std::size_t i = 0; i < grads.size(); ++i) {
        REQUIRE(grads[i].defined() == expected_grads[i].defined());
        if (grads[i].defined()) require_close(grads[i], to_array(expected_grads[i]), 1e-11);
      }
    }
  }
}

void check_subsets(const Row& row) {
  if (row.derivative_order == 0) return;
  const variable_list all = with_grad(row, make_inputs(row, 0));
  std::vector<std::size_t> wanting;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].requires_grad()) wanting.push_back(i);
  if (wanting.empty() || wanting.size() > 4) return;
  variable_list leaves;
  for (const std::size_t i : wanting) leaves.push_back(all[i]);
  const variable_list full = gradients(row, all, leaves);
  for (unsigned mask = 1; mask < 1u << wanting.size(); ++mask) {
    INFO(row.name << ", subset " << mask);
    variable_list inputs = all, wanted;
    for (std::size_t k = 0; k < wanting.size(); ++k) {
      Variable& x = inputs[wanting[k]];
      x = x.detach();
      if (mask >> k & 1) wanted.push_back(x.requires_grad_());
    }
    const variable_list grads = gradients(row, inputs, wanted);
    std::size_t next = 0;
    for (std::size_t k = 0; k < wanting.size(); ++k) {
      if (!(mask >> k & 1)) continue;
      const Variable& g = grads[next++];
      REQUIRE(g.defined() == full[k].defined());
      if (g.defined()) require_close(g, to_array(full[k]), 1e-12);
    }
  }
}

void check_in_place(const Row& row) {
  if (!row.in_place_function) return;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << "_, sample " << s);
    const variable_list inputs = make_inputs(row, s);
    const Variable expected = row.function(inputs)[0];
    if (expected.sizes() != inputs[0].sizes() || expected.dtype() != inputs[0].dtype()) continue;
    variable_list copies = inputs;
    copies[0] = inputs[0].clone();
    const auto version = copies[0]._version();
    const Variable returned = row.in_place_function(copies);
    REQUIRE(returned.is_same(copies[0]));
    REQUIRE(copies[0]._version() > version);
    require_close(copies[0], to_array(expected), 1e-12);
    if (row.derivative_order == 0) continue;
    const variable_list leaves = with_grad(row, inputs);
    if (!leaves[0].requires_grad()) continue;
    variable_list wanted;
    for (const Variable& x : leaves)
      if (x.requires_grad()) wanted.push_back(x);
    const variable_list plain = gradients(row, leaves, wanted);
    const Row twin = [&] {
      Row r = row;
      r.function = [&row](const variable_list& x) {
        variable_list y = x;
        y[0] = x[0] * 1;
        return variable_list{row.in_place_function(y)};
      };
      return r;
    }();
    const variable_list grads = gradients(twin, leaves, wanted);
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (plain[i].defined()) require_close(grads[i], to_array(plain[i]), 1e-12);
  }
}

void check_repeatable(const Row& row) {
  const int threads = ebb::get_num_threads();
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", sample " << s);
    const variable_list inputs = make_inputs(row, s);
    variable_list before;
    for (const Variable& x : inputs) before.push_back(x.clone());
    const auto nodes = ebb::live_node_count();
    const auto storages = ebb::live_storage_count();
    std::vector<variable_list> runs;
    for (const int n : {1, 2, 2}) {
      ebb::set_num_threads(n);
      const variable_list leaves = with_grad(row, inputs);
      variable_list wanted, results = row.function(inputs);
      for (const Variable& x : leaves)
        if (x.requires_grad()) wanted.push_back(x);
      if (row.derivative_order > 0 && !wanted.empty())
        for (const Variable& g : gradients(row, leaves, wanted))
          if (g.defined()) results.push_back(g);
      runs.push_back(results);
    }
    ebb::set_num_threads(threads);
    for (std::size_t r = 1; r < runs.size(); ++r) {
      REQUIRE(runs[r].size() == runs[0].size());
      for (std::size_t o = 0; o < runs[0].size(); ++o) REQUIRE(same_bits(runs[r][o], runs[0][o]));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      INFO("input " << i);
      REQUIRE(same_bits(inputs[i], before[i]));
      REQUIRE(inputs[i]._version() == before[i]._version());
    }
    runs.clear();
    REQUIRE(ebb::live_node_count() == nodes);
    REQUIRE(ebb::live_storage_count() == storages);
  }
}

void check_errors(const Row& row) {
  for (const ErrorCase& e : row.error_cases) {
    INFO(row.name);
    REQUIRE_THROWS_WITH(e.use(), Catch::Matchers::Contains(e.message));
    REQUIRE_THROWS_AS(e.use(), ebb::Error);
  }
}

}  // namespace optable
