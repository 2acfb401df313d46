// Checks of layouts (channels-last images, incoming gradients in every layout) and of sizes (large arrays,
// rows of many lengths, sizes of 1 and 0).
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <algorithm>
#include <set>

// Channels-last images: ops preserve the format and the values of contiguous images.

namespace optable {
namespace {

ebb::MemoryFormat last_of(const Variable& x) {
  return x.dim() == 4 ? ebb::MemoryFormat::ChannelsLast : ebb::MemoryFormat::ChannelsLast3d;
}
// With one channel or one pixel, both formats apply.
bool tells(const Variable& x) { return x.size(1) > 1 && x.numel() > x.size(0) * x.size(1); }

void require_format(const Variable& x, bool last) {
  if (!tells(x)) return;
  REQUIRE(x.is_contiguous(last_of(x)) == last);
  REQUIRE(x.is_contiguous() != last);
}

}  // namespace

void check_channels_last(const Row& row, ebb::Device device) {
  if (!row.keeps_channels_last) return;
  int compared = 0;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", channels last, sample " << s);
    variable_list plain;
    for (const Variable& x : make_inputs(row, s)) plain.push_back(x.to(ebb::TensorOptions(device)));
    if (plain[0].dim() < 4) continue;
    plain = with_grad(row, plain);
    variable_list last = plain;
    last[0] = plain[0].detach().contiguous(last_of(plain[0])).requires_grad_();
    const Variable expected = row.function(plain)[0], got = row.function(last)[0];
    if (!tells(plain[0])) continue;
    ++compared;
    require_format(expected, false);
    require_format(got, true);
    require_close(got, to_array(expected), 1e-10);
    const Variable seed = seed_for(expected);
    const Variable slope = ebb::autograd::grad({expected}, {plain[0]}, {seed}, true)[0];
    require_format(slope, false);
    for (const Variable& each : {seed, seed.contiguous(last_of(seed))}) {
      const Variable turned = ebb::autograd::grad({got}, {last[0]}, {each}, true)[0];
      require_format(turned, true);
      require_close(turned, to_array(slope), 1e-10);
    }
  }
  REQUIRE(compared > 0);
}

// Incoming gradients: backward depends on their values and not on their layout.

namespace {

// Returns the gradient as backward of a sum creates it: one number, expanded.
Variable one_for_all(const Variable& x) {
  return x.numel() == 0 ? x.clone() : x.flatten().select(0, 0).clone().expand(x.sizes());
}
Variable along_last(const Variable& x) {
  return x.dim() == 0 || x.size(-1) == 0 ? x.clone() : x.slice(-1, 0, 1).clone().expand(x.sizes());
}

std::vector<Layout> all_layouts() {
  std::vector<Layout> all = layouts();
  all.push_back({"one number for all", one_for_all, true});
  all.push_back({"expanded along the last dimension", along_last, true});
  return all;
}

struct Graph {
  variable_list outputs, wanted;
};

variable_list first(const Graph& graph, const variable_list& seeds) {
  return ebb::autograd::grad(graph.outputs, graph.wanted, seeds, true, false, true);
}

// Returns the second derivatives, for directions with the layout of the seeds.
variable_list second(const Graph& graph, variable_list seeds, const Layout& layout, bool plain) {
  variable_list targets = graph.wanted, firsts, directions;
  for (Variable& seed : seeds) {
    seed = seed.detach().requires_grad_();
    targets.push_back(seed);
  }
  for (const Variable& g : ebb::autograd::grad(graph.outputs, graph.wanted, seeds, true, true, true)) {
    if (!g.defined() || !g.requires_grad()) continue;
    firsts.push_back(g);
    const Variable laid = layout.apply(seed_for(g, 53));
    directions.push_back(plain ? laid.contiguous().clone() : laid);
  }
  if (firsts.empty()) return {};
  return ebb::autograd::grad(firsts, targets, directions, true, false, true);
}

}  // namespace

void check_upstream(const Row& row) {
  if (row.derivative_order == 0) return;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    const variable_list inputs = with_grad(row, make_inputs(row, s));
    const Graph graph{differentiable_outputs(row, inputs), leaves_of(inputs)};
    if (graph.outputs.empty() || graph.wanted.empty()) continue;
    for (const Layout& layout : all_layouts()) {
      INFO(row.name << ", sample " << s << ", incoming gradient " << layout.name);
      variable_list laid, plain;
      for (const Variable& y : graph.outputs) {
        laid.push_back(layout.apply(seed_for(y)));
        plain.push_back(laid.back().contiguous().clone());
      }
      require_same(first(graph, laid), first(graph, plain), 1e-12);
      if (row.derivative_order < 2 || s > 0) continue;
      INFO("second derivatives");
      require_same(second(graph, laid, layout, false), second(graph, plain, layout, true), 1e-11);
    }
  }
}

// Pointwise ops on arrays that are large enough for SIMD vectors, their remainder, and several threads.

void check_large(const Row& small) {
  if (small.pointwise_inputs == 0) return;
  Row row = small;
  row.shape_sets = {{}, {}};
  const Sizes broadcast[] = {{120, 301}, {301}, {120, 1}};
  for (std::size_t i = 0; i < small.pointwise_inputs; ++i) {
    row.shape_sets[0].push_back({120, 301});
    row.shape_sets[1].push_back(broadcast[i]);
  }
  const std::pair<ebb::DType, double> dtypes[] = {{ebb::kF64, 1e-11},
                                                  {ebb::kF32, row.float_tolerance},
                                                  {ebb::kHalf, row.half_roundings * 0x1p-10},
                                                  {ebb::kBFloat16, row.half_roundings * 0x1p-7}};
  const ThreadsGuard guard;
  for (std::size_t s = 0; s < 2; ++s) {
    const variable_list exact = make_inputs(row, s);
    for (const auto& [dtype, tolerance] : dtypes) {
      if (dtype != ebb::kF64 && !row.dtype_reason.empty()) continue;
      const bool half = dtype == ebb::kHalf || dtype == ebb::kBFloat16;
      if (half && (s > 0 || !row.half_reason.empty())) continue;
      INFO(row.name << " in " << ebb::to_string(dtype) << ", large sample " << s);
      const variable_list inputs = to(exact, dtype);
      variable_list columns;
      for (const Variable& x : inputs) columns.push_back(x.dim() == 2 ? x.t().contiguous().t() : x);
      ebb::set_num_threads(1);
      const variable_list one = results(row, inputs), turned = row.function(columns);
      if (s == 0 && !half) {
        ebb::set_num_threads(2);
        require_same_bits(results(row, inputs), one);
        REQUIRE(same_bits(row.function(columns)[0], turned[0]));
        ebb::set_num_threads(1);
      }
      if (!row.reference_function) continue;
      Arrays arrays;
      for (const Variable& x : inputs) arrays.push_back(to_array(x));
      require_close(one[0], row.reference_function(arrays)[0], tolerance);
      if (s > 0) continue;
      // Rows are independent of each other, and so are columns; few of them use other kernels than many.
      variable_list few;
      for (const Variable& x : inputs) few.push_back(x.slice(0, 0, 3).clone());
      const variable_list alone = results(row, few);
      require_close(turned[0], to_array(one[0]), tolerance);
      for (std::size_t i = 0; i < one.size(); ++i) {
        if (!one[i].defined()) continue;
        REQUIRE(one[i].size(0) == 120);
        require_close(one[i].slice(0, 0, 3), to_array(alone[i]), 2 * tolerance);
      }
    }
  }
}

// Rows of many lengths: around the sizes of vectors, and beyond the size of a block.

namespace {

Row with_shapes(const Row& row, std::vector<Sizes> shapes) {
  Row other = row;
  other.shape_sets = {std::move(shapes)};
  return other;
}

void compare(const Row& row) {
  const variable_list inputs = make_inputs(row, 0);
  const auto expected_of = [&](const variable_list& of) {
    Arrays arrays;
    for (const Variable& x : of) arrays.push_back(to_array(x));
    return row.reference_function(arrays);
  };
  const auto require = [&](const variable_list& got, const Arrays& expected, double tolerance) {
    REQUIRE(expected.size() <= got.size());
    for (std::size_t o = 0; o < expected.size(); ++o) require_close(got[o], expected[o], tolerance);
  };
  const Arrays expected = expected_of(inputs);
  require(row.function(inputs), expected, 1e-11);
  variable_list turned;
  for (const Variable& x : inputs)
    turned.push_back(x.dim() < 2 ? x : x.transpose(0, -1).contiguous().transpose(0, -1));
  require(row.function(turned), expected, 1e-11);
  if (row.dtype_reason.empty()) {
    const variable_list rounded = to(inputs, ebb::kF32);
    require(row.function(rounded), expected_of(rounded), row.float_tolerance);
  }
}

// Checks that the result of a row does not depend on other rows.
void compare_rows_apart(const Row& row) {
  const variable_list inputs = to(make_inputs(row, 0), row.dtype_reason.empty() ? ebb::kF32 : ebb::kF64);
  const std::int64_t count = inputs[0].size(0);
  const variable_list all = row.function(inputs);
  for (std::int64_t i = 0; i < count; ++i) {
    variable_list alone;
    for (const Variable& x : inputs)
      alone.push_back(x.dim() > 0 && x.size(0) == count ? x.narrow(0, i, 1) : x);
    const variable_list one = row.function(alone);
    for (std::size_t o = 0; o < all.size(); ++o) {
      if (all[o].dim() == 0 || all[o].size(0) != count) continue;
      INFO("row " << i << ", output " << o);
      REQUIRE(same_bits(all[o].narrow(0, i, 1).contiguous(), one[o]));
    }
  }
}

}  // namespace

void check_lengths(const Row& row) {
  for (const std::vector<Sizes>& shapes : row.large_shapes) {
    INFO(row.name << ", large; the first input is " << ebb::IntArrayRef(shapes[0]));
    const Row large = with_shapes(row, shapes);
    compare(large);
    if (shapes[0].size() == 2) compare_rows_apart(large);
    if (row.derivative_order == 0) continue;
    ebb::GradcheckOptions options;
    options.fast_mode = true;
    REQUIRE(ebb::gradcheck(differentiable_part(large), with_grad(large, make_inputs(large, 0)), options));
  }
  if (row.row_lengths.empty()) return;
  REQUIRE(row.reference_function);
  const std::vector<Sizes>& first = row.shape_sets[0];
  REQUIRE_FALSE(first[0].empty());
  const std::int64_t inner = first[0].back();
  for (const std::int64_t length : row.row_lengths) {
    INFO(row.name << ", rows of " << length);
    std::vector<Sizes> shapes = first;
    for (Sizes& sizes : shapes) std::replace(sizes.begin(), sizes.end(), inner, length);
    compare(with_shapes(row, shapes));
    if (length > 300 || first[0].size() < 2 || first[0][0] == inner) continue;
    for (Sizes& sizes : shapes)
      if (!sizes.empty()) std::replace(sizes.begin(), sizes.begin() + 1, first[0][0], std::int64_t{37});
    const Row many = with_shapes(row, shapes);
    compare(many);
    compare_rows_apart(many);
  }
}

// Sizes of 1 and 0 in place of other sizes of a sample: an error, or consistent results.

namespace {

bool all_finite(const variable_list& xs) {
  for (const Variable& x : xs)
    if (x.defined() && x.is_floating_point() && !x.isfinite().all().item<bool>()) return false;
  return true;
}

void check(const Row& row) {
  variable_list inputs, got;
  try {
    inputs = make_inputs(row, 0);
    got = results(row, inputs);
  } catch (const ebb::Error&) {
    return;  // a size may have another meaning, or the op may throw
  }
  if (!row.layout_reason.empty() || !all_finite(got)) return;
  for (const Layout& layout : layouts()) {
    if (layout.repeats) continue;
    INFO(layout.name);
    variable_list other;
    for (const Variable& x : inputs) other.push_back(layout.apply(x));
    require_same(laid_out_results(row, other), got, 1e-11);
  }
  if (row.derivative_order == 0) return;
  ebb::GradcheckOptions options;
  options.fast_mode = true;
  const variable_list leaves = with_grad(row, inputs);
  if (!leaves_of(leaves).empty()) REQUIRE(ebb::gradcheck(differentiable_part(row), leaves, options));
}

}  // namespace

void check_shrunk(const Row& row) {
  std::set<std::vector<Sizes>> seen(row.shape_sets.begin(), row.shape_sets.end());
  for (const std::vector<Sizes>& shapes : row.shape_sets) {
    std::set<std::int64_t> values;
    for (const Sizes& sizes : shapes) values.insert(sizes.begin(), sizes.end());
    for (const std::int64_t size : values)
      for (const std::int64_t other : {1, 0}) {
        Row small = row;
        small.shape_sets = {shapes};
        for (Sizes& sizes : small.shape_sets[0]) std::replace(sizes.begin(), sizes.end(), size, other);
        if (!seen.insert(small.shape_sets[0]).second) continue;
        INFO(row.name << ", size " << size << " as " << other);
        check(small);
      }
  }
}

}  // namespace optable
