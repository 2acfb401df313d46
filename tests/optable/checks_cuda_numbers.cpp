// Whole numbers and truth values on the other device.
#include "optable/checks.h"
#include "optable/layouts.h"
#include "optable/samples.h"
#include "support/catch.h"

namespace optable {
namespace {

// Floating inputs as numbers of the dtype, in a range where they differ.
variable_list whole(const variable_list& inputs, ebb::DType dtype) {
  variable_list out;
  for (const Variable& x : inputs) {
    const Variable wide = dtype == ebb::kByte ? (5 * x).abs() : 5 * x;
    out.push_back(x.is_floating_point() ? (dtype == ebb::kBool ? x > 0 : wide.to(dtype)) : x);
  }
  return out;
}

variable_list on_device(variable_list inputs) {
  for (Variable& x : inputs) x = x.to(ebb::TensorOptions(ebb::kCUDA));
  return inputs;
}

// The results on the host, or nothing where the op refuses its inputs. A device may refuse them later, when
// it is asked for the values.
ebb::optional<variable_list> results_on_host(const Row& row, const variable_list& inputs) {
  try {
    variable_list out = row.function(inputs);
    for (Variable& y : out)
      if (y.defined()) y = y.cpu();
    return out;
  } catch (const ebb::Error&) {
    return ebb::nullopt;
  }
}

void compare(const Row& row, const variable_list& here, const variable_list& there) {
  const auto expected = results_on_host(row, here), got = results_on_host(row, there);
  REQUIRE(got.has_value() == expected.has_value());
  if (!expected) return;
  require_same(*got, *expected, 1e-5);
  for (std::size_t i = 0; i < got->size(); ++i)
    if ((*got)[i].defined()) CHECK((*got)[i].dtype() == (*expected)[i].dtype());
}

}  // namespace

void check_cuda_numbers(const Row& row) {
  const variable_list inputs = make_inputs(row, 0);
  for (const ebb::DType dtype : {ebb::kBool, ebb::kByte, ebb::kChar, ebb::kShort, ebb::kInt, ebb::kLong}) {
    INFO(row.name << " of " << ebb::to_string(dtype));
    const variable_list here = whole(inputs, dtype);
    compare(row, here, on_device(here));
    if (!row.layout_reason.empty()) continue;
    for (const Layout& layout : layouts()) {
      if (layout.repeats) continue;
      INFO(layout.name);
      const auto laid_out = [&](variable_list tensors) {
        for (Variable& x : tensors) x = layout.apply(x);
        return tensors;
      };
      compare(row, laid_out(here), laid_out(on_device(here)));
    }
  }
}

}  // namespace optable
