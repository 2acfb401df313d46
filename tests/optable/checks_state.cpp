// In-place twins, repeatability, leaks, errors.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

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
    REQUIRE_THROWS_WITH(e.use(), support::Contains(e.message));
    REQUIRE_THROWS_AS(e.use(), ebb::Error);
  }
}

}  // namespace optable
