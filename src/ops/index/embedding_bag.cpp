// embedding_bag: gathers rows of a table and reduces them by bag with index ops. The tensor `bag` contains
// the bag of each index.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"
#include "ops/common/dims.h"

#include <algorithm>
#include <cmath>

namespace ebb {

namespace {

using Bags = std::tuple<Variable, Variable, Variable, Variable>;

constexpr std::int64_t kSumOfBag = 0, kMeanOfBag = 1, kMaxOfBag = 2;

void check(const Variable& weight, const Variable& indices, const Variable& offsets, std::int64_t mode,
           const Variable& factors, std::int64_t bags) {
  const char* const op = "embedding_bag";
  ops::common_device(op, weight, indices, offsets);
  EBB_CHECK(weight.dim() == 2 && is_floating(weight.scalar_type()), op,
            ": expected weight as a floating-point table (rows, columns), got ", weight, ".");
  EBB_CHECK(indices.dim() == 1 && offsets.dim() == 1, op,
            ": expected indices and offsets of one dimension, got shapes ", indices.sizes(), " and ",
            offsets.sizes(),
            ". The rows of a matrix of indices are bags with offsets arange(0, numel, columns).");
  for (const Variable* x : {&indices, &offsets})
    EBB_CHECK(x->dtype() == kLong || x->dtype() == kInt, op,
              ": expected indices and offsets in Long or Int, got ", *x,
              ". Convert them with .to(ebb::kLong).");
  EBB_CHECK(bags >= 0, op, ": include_last_offset needs at least one offset.");
  EBB_CHECK(mode >= kSumOfBag && mode <= kMaxOfBag, op, ": mode must be 0 (sum), 1 (mean) or 2 (max), got ",
            mode, ".");
  if (factors.defined()) {
    EBB_CHECK(mode == kSumOfBag, op, ": per_sample_weights are only supported for mode 0 (sum).");
    EBB_CHECK(factors.sizes() == indices.sizes(), op, ": expected per_sample_weights of the indices' shape, ",
              indices.sizes(), ", got ", factors.sizes(), ".");
    ops::check_same_dtype(op, weight, factors);
  }
  if (offsets.numel() == 0 || !offsets.is_cpu()) return;
  ops::check_values(op, offsets.to(kLong), [op, most = indices.numel()](const NdArray& x) {
    const auto* const at = x.address_as<std::int64_t>();
    const std::int64_t last = at[x.numel() - 1];
    EBB_CHECK(at[0] == 0, op, ": offsets[0] has to be 0, got ", at[0], ".");
    EBB_CHECK(last <= most, op, ": offsets[-1] can not be greater than the number of indices, ", most,
              ", got ", last, ".");
    EBB_CHECK(std::is_sorted(at, at + x.numel()), op, ": the offsets must not decrease.");
  });
}

/// Returns, for each bag and column, the position of the largest value among all gathered rows. For an empty
/// bag the position is n, the number of rows.
Variable argmax_positions(const Variable& rows, const Variable& padded, const Variable& bag,
                          std::int64_t bags) {
  const std::int64_t n = rows.size(0), columns = rows.size(1);
  const Variable of = bag.unsqueeze(1).expand({n, columns});
  Variable seen = rows.detach();
  if (padded.defined()) seen = seen.masked_fill(padded, -INFINITY);
  const Variable best = full({bags, columns}, -INFINITY, seen.options()).scatter_reduce(0, of, seen, "amax");
  Variable is_best = seen.eq(best.index_select(0, bag)).logical_or(seen.isnan());
  if (padded.defined()) is_best = is_best.logical_and(padded.logical_not());
  const Variable place = arange(n, bag.options()).unsqueeze(1).expand({n, columns});
  return full({bags, columns}, n, bag.options())
      .scatter_reduce(0, of, where(is_best, place, full_like(place, n)), "amin");
}

Bags reduce(const Variable& weight, const Variable& indices, const Variable& offsets, bool by_frequency,
            std::int64_t mode, const Variable& factors, bool include_last_offset, std::int64_t padding) {
  const std::int64_t bags = offsets.numel() - (include_last_offset ? 1 : 0), n = indices.numel();
  check(weight, indices, offsets, mode, factors, bags);
  EBB_CHECK(!by_frequency || mode != kMaxOfBag,
            "embedding_bag: max mode does not support scaling the gradient by the frequency. Leave "
            "scale_grad_by_freq out.");
  const Variable index = indices.to(kLong), starts = offsets.to(kLong).slice(0, 0, bags).contiguous();
  Variable rows = embedding(weight, index, padding, by_frequency);
  const Variable bag = searchsorted(starts, arange(n, index.options()), false, /*right=*/true) - 1;
  Variable padded, counted = ones({n}, index.options());
  if (padding >= 0) {
    padded = index.eq(padding).unsqueeze(1);
    counted = index.ne(padding).to(kLong);
  }
  const Variable sizes = zeros({bags}, index.options()).index_add_(0, bag, counted);
  const std::int64_t columns = weight.size(1);
  if (mode == kMaxOfBag) {
    if (n == 0) {
      const Variable none = zeros({bags, columns}, index.options());
      return {zeros({bags, columns}, weight.options()), bag, sizes, none};
    }
    const Variable place = argmax_positions(rows, padded, bag, bags), empty = place.eq(n);
    const Variable somewhere = place.masked_fill(empty, 0);
    return {rows.gather(0, somewhere).masked_fill(empty, 0), bag, sizes,
            index.take(somewhere).masked_fill(empty, 0)};
  }
  // Sums of 16-bit floats accumulate in float.
  const DType wide = ops::wide_dtype(weight.scalar_type());
  rows = rows.to(wide);
  if (factors.defined()) rows = rows * factors.to(wide).unsqueeze(1);
  if (padded.defined()) rows = rows.masked_fill(padded, 0);
  Variable sums = zeros({bags, columns}, rows.options()).index_add_(0, bag, rows);
  if (mode == kMeanOfBag) sums = sums / sizes.clamp_min(1).unsqueeze(1).to(wide);
  return {sums.to(weight.scalar_type()), bag, sizes, sizes};
}

}  // namespace

Bags embedding_bag(const Variable& weight, const Variable& indices, const Variable& offsets,
                   bool scale_grad_by_freq, std::int64_t mode, bool,
                   const optional<Variable>& per_sample_weights, bool include_last_offset) {
  return reduce(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights.value_or(Variable()),
                include_last_offset, -1);
}

Bags embedding_bag(const Variable& weight, const Variable& indices, const Variable& offsets,
                   bool scale_grad_by_freq, std::int64_t mode, bool,
                   const optional<Variable>& per_sample_weights, bool include_last_offset,
                   optional<std::int64_t> padding_idx) {
  std::int64_t padding = -1;
  if (padding_idx) {
    const std::int64_t rows = weight.size(0);
    EBB_CHECK(*padding_idx >= -rows && *padding_idx < rows,
              "embedding_bag: padding_idx must be within the table's ", rows, " rows, got ", *padding_idx,
              ".");
    padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  }
  return reduce(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights.value_or(Variable()),
                include_last_offset, padding);
}

}  // namespace ebb
