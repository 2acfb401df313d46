// In-place twins, repeatability, leaks, errors, and the other device.
#include "optable/checks.h"
#include "optable/samples.h"

#include <catch2/catch.hpp>

namespace optable {

void check_in_place(const Row& row) {
  if (!row.in_place_function) return;
  int compared = 0;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << "_, sample " << s);
    const variable_list inputs = make_inputs(row, s);
    const Variable expected = row.function(inputs)[0];
    variable_list copies = inputs;
    copies[0] = inputs[0].clone();
    if (expected.sizes() != inputs[0].sizes() && !row.in_place_reshapes) {
      REQUIRE_THROWS_AS(row.in_place_function(copies), ebb::Error);
      REQUIRE(same_bits(copies[0], inputs[0]));
      continue;
    }
    ++compared;
    const auto version = copies[0]._version();
    const Variable returned = row.in_place_function(copies);
    REQUIRE(returned.is_same(copies[0]));
    REQUIRE(copies[0]._version() > version);
    REQUIRE(copies[0].dtype() == inputs[0].dtype());
    require_close(copies[0], to_array(expected), 1e-12);
    const variable_list leaves = with_grad(row, inputs), wanted = leaves_of(leaves);
    if (leaves[0].requires_grad()) REQUIRE_THROWS_AS(row.in_place_function(leaves), ebb::Error);
    if (row.derivative_order == 0 || !leaves[0].requires_grad()) continue;
    Row twin = row;
    twin.function = [&row](const variable_list& x) {
      variable_list y = x;
      y[0] = x[0] * 1;
      return variable_list{row.in_place_function(y)};
    };
    Row first = row;
    first.function = [&row](const variable_list& x) { return variable_list{row.function(x)[0]}; };
    const variable_list plain = gradients(first, leaves, wanted), grads = gradients(twin, leaves, wanted);
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (plain[i].defined()) require_close(grads[i], to_array(plain[i]), 1e-12);
  }
  REQUIRE(compared > 0);
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
      const variable_list leaves = with_grad(row, inputs), wanted = leaves_of(leaves);
      variable_list results = row.function(inputs);
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

namespace {

// What CUDA computed against what the CPU did.
void compare(const variable_list& expected, const variable_list& got, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("output or gradient " << i);
    REQUIRE(got[i].defined() == expected[i].defined());
    if (!got[i].defined()) continue;
    CHECK(got[i].device().is_cuda());
    CHECK(got[i].dtype() == expected[i].dtype());
    require_close(got[i], to_array(expected[i]), tolerance);
  }
}

}  // namespace

void check_cuda(const Row& row) {
  const auto on = [](ebb::Device device, const variable_list& inputs) {
    variable_list out;
    for (const Variable& x : inputs) out.push_back(x.to(ebb::TensorOptions(device)));
    return out;
  };
  const auto results = [&row](const variable_list& inputs) {
    variable_list out = row.function(inputs);
    const variable_list leaves = with_grad(row, inputs), wanted = leaves_of(leaves);
    if (row.derivative_order > 0 && !wanted.empty())
      for (const Variable& g : gradients(row, leaves, wanted)) out.push_back(g);
    return out;
  };
  const auto second = [&row](const variable_list& inputs) {
    const variable_list leaves = with_grad(row, inputs), wanted = leaves_of(leaves);
    return row.derivative_order < 2 || wanted.empty() ? variable_list()
                                                      : second_gradients(row, leaves, wanted);
  };
  const double half = 4 * row.half_roundings;
  const std::pair<ebb::DType, double> dtypes[] = {{ebb::kF64, 1e-10},
                                                  {ebb::kF32, row.float_tolerance},
                                                  {ebb::kHalf, half * 0x1p-10},
                                                  {ebb::kBFloat16, half * 0x1p-7}};
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    for (const auto& [dtype, tolerance] : dtypes) {
      const bool is_half = dtype == ebb::kHalf || dtype == ebb::kBFloat16;
      if (dtype != ebb::kF64 && !row.dtype_reason.empty()) continue;
      if (is_half && !row.half_reason.empty()) continue;
      INFO(row.name << " in " << ebb::to_string(dtype) << ", sample " << s);
      const variable_list inputs = to(make_inputs(row, s), dtype);
      compare(results(on(ebb::kCPU, inputs)), results(on(ebb::kCUDA, inputs)), tolerance);
      if (is_half) continue;
      INFO("second derivatives");
      compare(second(on(ebb::kCPU, inputs)), second(on(ebb::kCUDA, inputs)), tolerance);
    }
  }
}

}  // namespace optable
