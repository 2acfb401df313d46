// Values, in every floating dtype and layout.
#include "optable/checks.h"
#include "optable/samples.h"

#include <catch2/catch.hpp>

namespace optable {
namespace {

bool any_floating(const variable_list& inputs) {
  for (const Variable& x : inputs)
    if (x.is_floating_point()) return true;
  return false;
}

void require_same(const variable_list& got, const variable_list& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("output or gradient " << i);
    REQUIRE(got[i].defined() == expected[i].defined());
    if (got[i].defined()) require_close(got[i], to_array(expected[i]), tolerance);
  }
}

// The function, then the gradients, of inputs that are laid out in some way: they keep their strides.
variable_list results(const Row& row, const variable_list& inputs) {
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

using Layout = Variable (*)(const Variable&);

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
// All alike along the first dimension, on one piece of memory.
Variable expanded(const Variable& x) {
  return x.dim() == 0 || x.size(0) == 0 ? x.clone() : x.slice(0, 0, 1).clone().expand(x.sizes());
}

}  // namespace

void check_forward(const Row& row) {
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", sample " << s);
    const variable_list inputs = make_inputs(row, s);
    const variable_list out = row.function(inputs);
    REQUIRE_FALSE(out.empty());
    if (row.reference_function) {
      Arrays arrays;
      for (const Variable& x : inputs) arrays.push_back(to_array(x));
      const Arrays expected = row.reference_function(arrays);
      REQUIRE_FALSE(expected.empty());
      REQUIRE(expected.size() <= out.size());
      for (std::size_t o = 0; o < expected.size(); ++o) require_close(out[o], expected[o], 1e-11);
    }
    if (!row.dtype_reason.empty() || !any_floating(inputs)) continue;
    // f32 sees rounded inputs: what it is compared with does too.
    const variable_list rounded = to(inputs, ebb::kF32);
    const variable_list single = row.function(rounded);
    require_same(single, row.function(to(rounded, ebb::kF64)), row.float_tolerance);
    for (std::size_t o = 0; o < single.size(); ++o)
      CHECK(single[o].dtype() == (out[o].is_floating_point() ? ebb::kF32 : out[o].dtype()));
  }
}

void check_halves(const Row& row) {
  if (!row.dtype_reason.empty() || !row.half_reason.empty()) return;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    const variable_list inputs = make_inputs(row, s);
    if (!any_floating(inputs)) continue;
    for (const auto& [dtype, epsilon] : {std::pair(ebb::kHalf, 0x1p-10), std::pair(ebb::kBFloat16, 0x1p-7)}) {
      INFO(row.name << " in " << ebb::to_string(dtype) << ", sample " << s);
      const variable_list rounded = to(inputs, dtype);
      const variable_list got = row.function(rounded);
      const variable_list exact = row.function(to(rounded, ebb::kF64));
      require_same(got, exact, row.half_roundings * epsilon);
      for (std::size_t o = 0; o < got.size(); ++o)
        CHECK(got[o].dtype() == (exact[o].is_floating_point() ? dtype : exact[o].dtype()));
      if (row.derivative_order == 0) continue;
      const variable_list leaves = with_grad(row, rounded), wide = with_grad(row, to(rounded, ebb::kF64));
      const variable_list expected = gradients(row, wide, leaves_of(wide));
      const variable_list slopes = gradients(row, leaves, leaves_of(leaves));
      // Backward starts from rounded results and rounds once more.
      require_same(slopes, expected, 2 * row.half_roundings * epsilon);
    }
  }
}

void check_layouts(const Row& row) {
  if (!row.layout_reason.empty()) return;
  const std::pair<const char*, Layout> layouts[] = {{"transposed", transposed},
                                                    {"stepped", stepped},
                                                    {"offset", offset},
                                                    {"channels last", channels_last},
                                                    {"expanded", expanded}};
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    const variable_list inputs = make_inputs(row, s);
    const variable_list expected = results(row, inputs);
    for (const auto& [name, layout] : layouts) {
      INFO(row.name << ", sample " << s << ", " << name);
      variable_list other, plain;
      for (const Variable& x : inputs) {
        other.push_back(layout(x));
        plain.push_back(other.back().contiguous().clone());
      }
      if (layout == expanded) {
        // Repeated values may be ones that the op rejects, such as a target twice: then nothing is to
        // compare.
        variable_list repeated;
        try {
          repeated = results(row, plain);
        } catch (const ebb::Error&) {
          continue;
        }
        require_same(results(row, other), repeated, 1e-11);
        continue;
      }
      for (std::size_t i = 0; i < inputs.size(); ++i) REQUIRE(ebb::equal(other[i], inputs[i]));
      require_same(results(row, other), expected, 1e-11);
    }
  }
}

}  // namespace optable
