// Pointwise ops on arrays that are large enough for vectors, their tails, and several threads.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

namespace optable {
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
      // Rows are independent of each other, and few are computed otherwise than many; so are columns.
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

}  // namespace optable
