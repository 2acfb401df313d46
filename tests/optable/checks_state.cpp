// Checks of in-place forms, repeatability for any number of threads, leaks, errors, misuse.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <cmath>
#include <string>

// In-place forms, repeatability, leaks, errors.

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

// Work that is split over threads: equal bits on one, two and three threads.

namespace {

// Kernels split work from 32768 cheap elements on.
const Stretch kBeyondOnePiece = {{30011, 10007, 3001, 1009, 301, 101, 41}, 70'000, 140'000};

void compare(const Row& row) {
  const variable_list inputs = to(make_inputs(row, 0), row.dtype_reason.empty() ? ebb::kF32 : ebb::kF64);
  const ThreadsGuard guard;
  ebb::set_num_threads(1);
  const variable_list alone = results(row, inputs);
  for (const int threads : {2, 3}) {
    INFO(threads << " threads");
    ebb::set_num_threads(threads);
    require_same_bits(results(row, inputs), alone);
  }
}

}  // namespace

void check_threads(const Row& row) {
  if (row.pointwise_inputs > 0) return;  // check_large() covers it
  // Decompositions of this size need a minute, and convolutions and shape ops, whose operands grow together,
  // need gigabytes.
  for (const char* family : {"decomposition", "conv", "shape"})
    if (row.family == family) return;
  for (const Row& big : stretched_rows(row, kBeyondOnePiece)) {
    INFO(row.name << " on several threads; the first input is " << ebb::IntArrayRef(big.shape_sets[0][0]));
    compare(big);
  }
  for (const std::vector<Sizes>& shapes : row.large_shapes) {
    Row large = row;
    large.shape_sets = {shapes};
    INFO(row.name << " on several threads; the first input is " << ebb::IntArrayRef(shapes[0]));
    compare(large);
  }
}

// Invalid inputs, derived from valid ones: each must give a result or an ebb::Error.

namespace {

using Change = Variable (*)(const Variable&);

Variable undefined(const Variable&) { return {}; }
Variable as_long(const Variable& x) { return x.to(ebb::kLong); }
Variable as_bool(const Variable& x) { return x.to(ebb::kBool); }
Variable as_float(const Variable& x) { return x.to(ebb::kF32); }
Variable as_half(const Variable& x) { return x.to(ebb::kHalf); }
Variable deeper(const Variable& x) { return x.unsqueeze(0); }
Variable flat(const Variable& x) { return x.flatten(); }
Variable empty(const Variable& x) { return x.dim() == 0 ? x.unsqueeze(0).slice(0, 0, 0) : x.slice(0, 0, 0); }
Variable longer(const Variable& x) { return x.dim() == 0 ? x.expand({2}) : ebb::cat({x, x}); }
Variable far_up(const Variable& x) { return x * 0 + 1000000; }
Variable far_down(const Variable& x) { return x * 0 - 1000000; }
Variable nans(const Variable& x) { return x.is_floating_point() ? x * NAN : x; }

// Runs the op as far as possible, including backward.
void attempt(const Row& row, const variable_list& inputs) {
  try {
    const variable_list leaves = leaves_of(inputs);
    for (const Variable& y : row.function(inputs)) REQUIRE(y.defined());
    if (row.derivative_order > 0 && !leaves.empty()) gradients(row, inputs, leaves);
  } catch (const ebb::Error& e) {
    REQUIRE(std::string(e.what()).size() > 10);
  }
}

}  // namespace

void check_misuse(const Row& row) {
  const std::pair<const char*, Change> changes[] = {
      {"undefined", undefined}, {"Long", as_long},  {"Bool", as_bool},        {"Float", as_float},
      {"Half", as_half},        {"deeper", deeper}, {"flat", flat},           {"empty", empty},
      {"longer", longer},       {"large", far_up},  {"very small", far_down}, {"NaN", nans}};
  if (row.shape_sets.empty()) return;
  const variable_list inputs = with_grad(row, make_inputs(row, 0));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (const auto& [name, change] : changes) {
      INFO(row.name << ", input " << i << " " << name);
      variable_list other = inputs;
      const Variable changed = change(inputs[i].detach());
      other[i] = changed.defined() && changed.is_floating_point() && inputs[i].requires_grad()
                     ? changed.clone().requires_grad_()
                     : changed;
      attempt(row, other);
    }
}

}  // namespace optable
