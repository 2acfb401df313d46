// Rows on the other device where they are large. Where an op refuses a stretched size, or would give too
// much, a smaller factor is tried.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <algorithm>
#include <set>

namespace optable {
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

// The row with `size` of its sample stretched as far as it goes; no shapes if it goes nowhere.
Row stretched(const Row& row, std::size_t sample, std::int64_t size, const Stretch& how) {
  Row out = row;
  for (const std::int64_t factor : how.factors) {
    std::vector<Sizes> shapes = row.shape_sets[sample];
    for (Sizes& sizes : shapes) std::replace(sizes.begin(), sizes.end(), size, size * factor);
    if (numel(shapes) > how.most_elements) continue;
    out.shape_sets = {shapes};
    try {
      const variable_list inputs = make_inputs(out, 0);
      if (elements_of(row.function(inputs)) <= how.most_results) return out;
    } catch (const ebb::Error&) {  // this size means something else too
    }
  }
  out.shape_sets.clear();
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
