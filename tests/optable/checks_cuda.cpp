// The other device.
#include "optable/checks.h"
#include "optable/layouts.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <algorithm>

namespace optable {
namespace {

variable_list on(ebb::Device device, const variable_list& inputs) {
  variable_list out;
  for (const Variable& x : inputs) out.push_back(x.to(ebb::TensorOptions(device)));
  return out;
}

struct Derivatives {
  variable_list results, first, second;
};

Derivatives derivatives(const Row& row, const variable_list& inputs) {
  Derivatives d;
  d.results = row.function(inputs);
  const variable_list leaves = with_grad(row, inputs), wanted = leaves_of(leaves);
  if (wanted.empty()) return d;
  if (row.derivative_order > 0) d.first = gradients(row, leaves, wanted);
  if (row.derivative_order > 1) d.second = second_gradients(row, leaves, wanted);
  return d;
}

// `floating`: the dtype of floating results, where it is not that of what is expected.
void compare(const variable_list& got, const variable_list& expected, double tolerance,
             ebb::optional<ebb::DType> floating = ebb::nullopt) {
  require_same(got, expected, tolerance);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!got[i].defined()) continue;
    INFO("output or gradient " << i);
    CHECK(got[i].device().is_cuda());
    CHECK(got[i].dtype() == (floating && expected[i].is_floating_point() ? *floating : expected[i].dtype()));
  }
}

// f32 and f64 against the CPU's, to the second derivative.
void check_dtype(const Row& row, const variable_list& inputs, ebb::DType dtype, double tolerance) {
  INFO(ebb::to_string(dtype));
  const variable_list typed = to(inputs, dtype);
  const Derivatives expected = derivatives(row, typed), got = derivatives(row, on(ebb::kCUDA, typed));
  compare(got.results, expected.results, tolerance);
  compare(got.first, expected.first, tolerance);
  INFO("second derivatives");
  compare(got.second, expected.second, tolerance);
}

// 16-bit dtypes against f64 of the same rounded inputs, to the first: see check_halves.
void check_half(const Row& row, const variable_list& inputs, ebb::DType dtype, double epsilon) {
  INFO(ebb::to_string(dtype));
  Row once = row;
  once.derivative_order = std::min(row.derivative_order, 1);
  const variable_list rounded = to(inputs, dtype);
  const Derivatives expected = derivatives(once, to(rounded, ebb::kF64)),
                    got = derivatives(once, on(ebb::kCUDA, rounded));
  compare(got.results, expected.results, row.half_roundings * epsilon, dtype);
  compare(got.first, expected.first, 2 * row.half_roundings * epsilon, dtype);
}

void check_layouts_on_cuda(const Row& row, const variable_list& inputs) {
  const bool places =
      std::any_of(inputs.begin(), inputs.end(), [](const Variable& x) { return !x.is_floating_point(); });
  for (const Layout& layout : layouts()) {
    INFO(layout.name);
    if (layout.repeats && places) continue;  // which of several writes to a place wins is open
    variable_list here, there;
    for (const Variable& x : inputs) {
      here.push_back(layout.apply(x));
      there.push_back(layout.apply(x.to(ebb::TensorOptions(ebb::kCUDA))));
      REQUIRE(there.back().strides() == here.back().strides());
    }
    variable_list expected;
    try {
      expected = laid_out_results(row, here);
    } catch (const ebb::Error&) {
      if (!layout.repeats) throw;
      continue;  // repeated values may be ones that the op rejects
    }
    require_same(laid_out_results(row, there), expected, 1e-10);
  }
}

}  // namespace

void check_cuda(const Row& row) {
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", sample " << s);
    const variable_list inputs = make_inputs(row, s);
    check_dtype(row, inputs, ebb::kF64, 1e-10);
    if (row.layout_reason.empty()) check_layouts_on_cuda(row, inputs);
    if (!row.dtype_reason.empty()) continue;
    check_dtype(row, inputs, ebb::kF32, row.float_tolerance);
    if (!row.half_reason.empty()) continue;
    check_half(row, inputs, ebb::kHalf, 0x1p-10);
    check_half(row, inputs, ebb::kBFloat16, 0x1p-7);
  }
}

}  // namespace optable
