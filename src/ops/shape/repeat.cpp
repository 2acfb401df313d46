// repeat, tile, repeat_interleave, meshgrid, cartesian_prod, combinations and vander.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "ops/common/arrays.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/shape/kernels.h"

#include <algorithm>

namespace ebb {

namespace {

using autograd::GradList;

struct RepeatBackward : autograd::Node {
  DimVector sizes, repeats;
  std::string name() const override { return "RepeatBackward0"; }
  GradList apply(GradList&& grads) override {
    const std::size_t lead = repeats.size() - sizes.size();
    DimVector split, counts;
    for (std::size_t d = 0; d < repeats.size(); ++d) {
      counts.push_back(static_cast<std::int64_t>(split.size()));
      split.push_back(repeats[d]);
      if (d >= lead) split.push_back(sizes[d - lead]);
    }
    if (counts.empty()) return {grads[0]};
    return {sum(reshape(grads[0], split), counts)};
  }
};

}  // namespace

Variable repeat(const Variable& x, IntArrayRef repeats) {
  EBB_CHECK(static_cast<std::int64_t>(repeats.size()) >= x.dim(),
            "repeat: number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor, got ",
            repeats, " for shape ", x.sizes(), ".");
  for (const std::int64_t r : repeats)
    EBB_CHECK(r >= 0, "repeat: trying to create a tensor with a negative dimension: repeats ", repeats, ".");
  const std::size_t lead = repeats.size() - static_cast<std::size_t>(x.dim());
  DimVector sizes, split, strides;  // split: every dimension as (repeats, size)
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    const std::int64_t size = d < lead ? 1 : x.sizes()[d - lead];
    sizes.push_back(repeats[d] * size);
    split.push_back(repeats[d]);
    split.push_back(size);
    strides.push_back(0);
    strides.push_back(d < lead ? 0 : x.strides()[d - lead]);
  }
  NdArray out = NdArray::empty(sizes, x.dtype(), x.device());
  NdArray place = out.as_strided(split, contiguous_strides(split), 0);
  kernels::copy(x.device(), place, x.array().as_strided(split, strides, x.array().offset()));
  return ops::record<RepeatBackward>(
      std::move(out),
      [&](RepeatBackward& node) {
        node.sizes = DimVector(x.sizes());
        node.repeats = DimVector(repeats);
      },
      x);
}

Variable tile(const Variable& x, IntArrayRef dims) {
  DimVector repeats(dims);
  while (static_cast<std::int64_t>(repeats.size()) < x.dim()) repeats.insert(repeats.begin(), 1);
  return repeat(x, repeats);
}

Variable repeat_interleave(const Variable& repeats, optional<std::int64_t> output_size) {
  EBB_CHECK(repeats.dim() == 1, "repeat_interleave: only accepts a 1D vector as repeats, got shape ",
            repeats.sizes(), ".");
  EBB_CHECK(repeats.dtype() == kLong || repeats.dtype() == kInt,
            "repeat_interleave: repeats has to be Long or Int, got ", repeats.dtype(), ".");
  const Variable counts = to(repeats.detach(), TensorOptions(Device(DeviceType::CPU)).dtype(kLong));
  const NdArray source = ops::contiguous_array(counts.array());
  detail::host_access(source);
  const std::int64_t* const count = source.address_as<std::int64_t>();
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < source.numel(); ++i) {
    EBB_CHECK(count[i] >= 0, "repeat_interleave: repeats can not be negative, got ", count[i], ".");
    total += count[i];
  }
  EBB_CHECK(!output_size || *output_size == total, "repeat_interleave: allocated size ",
            output_size.value_or(0), " does not match the required size ", total, ".");
  NdArray index = NdArray::empty({total}, kLong);
  detail::host_access(index);
  std::int64_t* to_index = index.address_as<std::int64_t>();
  for (std::int64_t i = 0; i < source.numel(); ++i) to_index = std::fill_n(to_index, count[i], i);
  return to(to(Variable(std::move(index)), TensorOptions(repeats.device())), TensorOptions(repeats.dtype()));
}

Variable repeat_interleave(const Variable& x, const Variable& repeats, optional<std::int64_t> dim,
                           optional<std::int64_t> output_size) {
  const Variable input = dim ? x : flatten(x);
  const std::int64_t along = wrap_dim("repeat_interleave", dim.value_or(0), input.dim());
  const std::int64_t size = input.dim() == 0 ? 1 : input.sizes()[along];
  Variable counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1)) {
    counts = expand(reshape(repeats, {1}), {size});
  } else {
    EBB_CHECK(repeats.dim() == 1, "repeat_interleave: repeats must be 0-dim or 1-dim, got shape ",
              repeats.sizes(), ".");
    EBB_CHECK(repeats.size(0) == size,
              "repeat_interleave: repeats must have the same size as input along dim, got ", repeats.size(0),
              " and ", size, ".");
  }
  return index_select(input, along, repeat_interleave(counts, output_size));
}

Variable repeat_interleave(const Variable& x, std::int64_t repeats, optional<std::int64_t> dim,
                           optional<std::int64_t> output_size) {
  NdArray count = NdArray::empty({1}, kLong);
  detail::host_access(count);
  *count.address_as<std::int64_t>() = repeats;
  return repeat_interleave(x, to(Variable(std::move(count)), TensorOptions(x.device())), dim, output_size);
}

std::vector<Variable> meshgrid(TensorList tensors) { return meshgrid(tensors, "ij"); }

std::vector<Variable> meshgrid(TensorList tensors, std::string_view indexing) {
  EBB_CHECK(!tensors.empty(), "meshgrid: expects a non-empty list of tensors.");
  EBB_CHECK(indexing == "ij" || indexing == "xy",
            "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing, ".");
  std::vector<Variable> inputs = tensors.vec();
  const bool swapped = indexing == "xy" && inputs.size() >= 2;
  if (swapped) std::swap(inputs[0], inputs[1]);
  DimVector shape;
  for (const Variable& x : inputs) {
    EBB_CHECK(x.dim() <= 1, "meshgrid: expected 0D or 1D tensors, but got ", x, ".");
    EBB_CHECK(x.dtype() == inputs[0].dtype() && x.device() == inputs[0].device(),
              "meshgrid: expects all tensors to have the same dtype and device, got ", inputs[0], " and ", x,
              ".");
    shape.push_back(x.numel());
  }
  std::vector<Variable> grids;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    DimVector own(shape.size(), 1);
    own[i] = shape[i];
    grids.push_back(expand(view(inputs[i], own), shape));
  }
  if (swapped) std::swap(grids[0], grids[1]);
  return grids;
}

Variable cartesian_prod(TensorList tensors) {
  EBB_CHECK(!tensors.empty(), "cartesian_prod: expects a non-empty list of tensors.");
  for (const Variable& x : tensors)
    EBB_CHECK(x.dim() == 1, "cartesian_prod: expects 1D vectors, got shape ", x.sizes(), ".");
  if (tensors.size() == 1) return tensors[0];
  std::vector<Variable> columns = meshgrid(tensors);
  for (Variable& column : columns) column = flatten(column);
  return stack(columns, 1);
}

namespace {

// Returns the binomial coefficient n over r. Throws if the combinations do not fit into memory.
std::int64_t number_of_choices(std::int64_t n, std::int64_t r) {
  if (r > n) return 0;
  std::int64_t count = 1;
  const std::int64_t steps = std::min(r, n - r);
  for (std::int64_t i = 1; i <= steps; ++i) {
    const bool overflow = __builtin_mul_overflow(count, n - steps + i, &count);
    count /= i;
    EBB_CHECK(!overflow && count <= (std::int64_t{1} << 48) / r, "combinations: ", n,
              " elements have more combinations of ", r, " than memory can hold.");
  }
  return count;
}

}  // namespace

Variable combinations(const Variable& x, std::int64_t r, bool with_replacement) {
  EBB_CHECK(x.dim() == 1, "combinations: expects a 1D vector, but got shape ", x.sizes(), ".");
  EBB_CHECK(r >= 0, "combinations: expects a non-negative number of elements, but got ", r, ".");
  if (r == 0) return Variable(NdArray::empty({0}, x.dtype(), x.device()));
  EBB_CHECK(!with_replacement || r < std::int64_t{1} << 48,
            "combinations: memory is too small for combinations of ", r, " elements.");
  const std::int64_t n = x.numel(), among = with_replacement ? n + r - 1 : n;
  const std::int64_t count = n > 0 ? number_of_choices(among, r) : 0;
  NdArray rows = NdArray::empty({count, r}, kLong);
  detail::host_access(rows);
  std::int64_t* out = rows.address_as<std::int64_t>();
  DimVector picked(count > 0 ? static_cast<std::size_t>(r) : 0);
  for (std::size_t i = 0; i < picked.size(); ++i)
    picked[i] = with_replacement ? 0 : static_cast<std::int64_t>(i);
  for (std::int64_t row = 0; row < count; ++row) {  // in lexicographic order
    out = std::copy(picked.begin(), picked.end(), out);
    std::int64_t i = r - 1;
    while (i >= 0 && picked[i] == (with_replacement ? n - 1 : n - r + i)) --i;
    if (i < 0) break;
    ++picked[i];
    for (std::int64_t j = i + 1; j < r; ++j) picked[j] = with_replacement ? picked[i] : picked[j - 1] + 1;
  }
  NdArray places = NdArray::empty({count, r}, kLong, x.device());
  ops::copy_constant(places, rows);
  return view(index_select(x, 0, Variable(std::move(places)).view({-1})), {count, r});
}

Variable vander(const Variable& x, optional<std::int64_t> N, bool increasing) {
  EBB_CHECK(x.dim() == 1, "vander: x must be a one-dimensional tensor, got shape ", x.sizes(), ".");
  const std::int64_t n = N.value_or(x.numel());
  EBB_CHECK(n >= 0, "vander: N must be non-negative, got ", n, ".");
  const Variable powers = pow(unsqueeze(x, -1), arange(n, TensorOptions(x.device()).dtype(kLong)));
  return increasing ? powers : flip(powers, {1});
}

}  // namespace ebb
