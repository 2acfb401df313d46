// Values, in every floating dtype and layout.
#include "optable/checks.h"
#include "optable/layouts.h"
#include "optable/samples.h"
#include "support/catch.h"

namespace optable {
namespace {

bool any_floating(const variable_list& inputs) {
  for (const Variable& x : inputs)
    if (x.is_floating_point()) return true;
  return false;
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
      REQUIRE(expected.size() + row.unreferenced_outputs == out.size());
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
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    const variable_list inputs = make_inputs(row, s);
    const variable_list expected = laid_out_results(row, inputs);
    for (const Layout& layout : layouts()) {
      INFO(row.name << ", sample " << s << ", " << layout.name);
      variable_list other, plain;
      for (const Variable& x : inputs) {
        other.push_back(layout.apply(x));
        plain.push_back(other.back().contiguous().clone());
      }
      if (layout.repeats) {
        // Repeated values may be ones that the op rejects, such as a target twice: then nothing is to
        // compare.
        variable_list repeated;
        try {
          repeated = laid_out_results(row, plain);
        } catch (const ebb::Error&) {
          continue;
        }
        require_same(laid_out_results(row, other), repeated, 1e-11);
        continue;
      }
      for (std::size_t i = 0; i < inputs.size(); ++i) REQUIRE(ebb::equal(other[i], inputs[i]));
      require_same(laid_out_results(row, other), expected, 1e-11);
    }
  }
}

}  // namespace optable
