// CPU against CUDA: values, integers and Bool, and large rows.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <algorithm>
#include <set>

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

// `floating`: the dtype of floating results, if it differs from the expected one.
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

// Compares f32 and f64 with the CPU, up to the second derivative.
void check_dtype(const Row& row, const variable_list& inputs, ebb::DType dtype, double tolerance) {
  INFO(ebb::to_string(dtype));
  const variable_list typed = to(inputs, dtype);
  const Derivatives expected = derivatives(row, typed), got = derivatives(row, on(ebb::kCUDA, typed));
  compare(got.results, expected.results, tolerance);
  compare(got.first, expected.first, tolerance);
  INFO("second derivatives");
  compare(got.second, expected.second, tolerance);
}

// Compares 16-bit dtypes with f64 for the same rounded inputs, up to the first derivative: see check_halves.
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
    if (layout.repeats && places) continue;  // the order of several writes to one element is undefined
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
      continue;  // the op may reject repeated values
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

// Integers and Bool on CUDA.

namespace {

// Returns floating inputs as numbers of the dtype, in a range where they differ.
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

// Returns the results on the host, or nothing if the op throws for its inputs. A device may throw later, when
// the values are read.
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

// Large rows on CUDA. If an op rejects an enlarged size, or if the result would be too large, a smaller
// factor is tried.

namespace {

const Stretch kForDevices = {{1501, 301, 41, 9}, 6'200, 30'000};

std::int64_t elements_of(const variable_list& xs) {
  std::int64_t count = 0;
  for (const Variable& x : xs)
    if (x.defined()) count += x.numel();
  return count;
}

std::int64_t numel(const std::vector<Sizes>& shapes) {
  std::int64_t count = 0;
  for (const Sizes& sizes : shapes) {
    std::int64_t each = 1;
    for (const std::int64_t n : sizes) each *= n;
    count += each;
  }
  return count;
}

// Returns the row with one size of its sample enlarged as far as possible; without shapes if that is
// impossible.
Row stretched(const Row& row, std::size_t sample, std::int64_t size, const Stretch& how) {
  Row out = row, longer = row;
  out.shape_sets.clear();
  // Starts with the smallest factor, because results can grow with a power of the size.
  for (auto factor = how.factors.rbegin(); factor != how.factors.rend(); ++factor) {
    std::vector<Sizes> shapes = row.shape_sets[sample];
    for (Sizes& sizes : shapes) std::replace(sizes.begin(), sizes.end(), size, size * *factor);
    if (numel(shapes) > how.most_elements) break;
    longer.shape_sets = {shapes};
    try {
      const variable_list inputs = make_inputs(longer, 0);
      if (elements_of(row.function(inputs)) > how.most_results) break;
      out.shape_sets = {shapes};
    } catch (const ebb::Error&) {  // this size also has another meaning
    }
  }
  return out;
}

void compare(const Row& row) {
  const variable_list inputs = make_inputs(row, 0);
  for (const auto& [dtype, tolerance] :
       {std::pair(ebb::kF64, 1e-10), std::pair(ebb::kF32, row.float_tolerance)}) {
    if (dtype == ebb::kF32 && !row.dtype_reason.empty()) continue;
    INFO(ebb::to_string(dtype));
    const variable_list here = to(inputs, dtype);
    variable_list there;
    for (const Variable& x : here) there.push_back(x.to(ebb::TensorOptions(ebb::kCUDA)));
    require_same(results(row, there), results(row, here), tolerance);
  }
}

}  // namespace

std::vector<Row> stretched_rows(const Row& row) { return stretched_rows(row, kForDevices); }

std::vector<Row> stretched_rows(const Row& row, const Stretch& how) {
  std::vector<Row> out;
  std::set<std::vector<Sizes>> seen;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    std::set<std::int64_t> values;
    for (const Sizes& sizes : row.shape_sets[s]) values.insert(sizes.begin(), sizes.end());
    for (const std::int64_t size : values) {
      if (size < 2) continue;
      Row big = stretched(row, s, size, how);
      if (!big.shape_sets.empty() && seen.insert(big.shape_sets[0]).second) out.push_back(std::move(big));
    }
  }
  return out;
}

void check_cuda_stretched(const Row& row) {
  for (const Row& big : stretched_rows(row)) {
    INFO(row.name << " stretched; the first input is " << ebb::IntArrayRef(big.shape_sets[0][0]));
    compare(big);
  }
}

}  // namespace optable
