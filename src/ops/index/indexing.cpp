// x.index({...}): what can be a view is made one, then tensors index the result.
#include "ops/index/common.h"

#include <ebb/ops/copy.h>
#include <ebb/ops/elementwise.h>

#include <string_view>

namespace ebb::indexing {

namespace {

struct AliasBackward : autograd::Node {
  std::string name() const override { return "AliasBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override { return {grads[0]}; }
};

Variable alias(const Variable& x) {
  return ops::view_of<AliasBackward>(x, x.array(), [](AliasBackward&) {});
}

using Tensors = std::vector<optional<Variable>>;  // one a dimension of the view

bool is_mask(const Variable& x) { return x.dtype() == kBool || x.dtype() == kByte; }

// Dimensions of x that the indices take up.
std::int64_t dims_taken(ArrayRef<TensorIndex> indices) {
  std::int64_t taken = 0;
  for (const TensorIndex& index : indices) {
    if (index.is_tensor())
      taken += is_mask(index.tensor()) ? index.tensor().dim() : 1;
    else if (index.is_integer() || index.is_slice())
      ++taken;
  }
  return taken;
}

void record(Tensors& tensors, std::int64_t dim, Variable index) {
  tensors.resize(static_cast<std::size_t>(dim) + 1);
  tensors[dim] = std::move(index);
}

// `true` picks a new dimension of size 1 whole, `false` picks nothing of it.
Variable truth_index(bool value, Device device) {
  return Variable(ops::zeros_array({value ? 1 : 0}, kLong, device));
}

// Applies all but the tensors, which it leaves in `tensors`.
Variable view_of(const Variable& x, ArrayRef<TensorIndex> indices, Tensors& tensors) {
  const std::int64_t taken = dims_taken(indices);
  EBB_CHECK_INDEX(taken <= x.dim(), "index: too many indices for tensor of dimension ", x.dim(), " (got ",
                  taken, ", shape ", x.sizes(), ").");
  Variable result = x;
  std::int64_t dim = 0;
  bool ellipsis = false;
  for (const TensorIndex& index : indices) {
    if (index.is_none()) {
      result = unsqueeze(result, dim++);
    } else if (index.is_ellipsis()) {
      EBB_CHECK_INDEX(!ellipsis, "index: an index can only have a single ellipsis (\"...\").");
      ellipsis = true;
      dim += x.dim() - taken;
    } else if (index.is_integer()) {
      result = select(result, dim, index.integer());
    } else if (index.is_boolean()) {
      result = unsqueeze(result, dim);
      record(tensors, dim++, truth_index(index.boolean(), x.device()));
    } else if (index.is_slice()) {
      const Slice& s = index.slice();
      const bool whole = !s.start() && !s.stop() && s.step() == 1 && indices.size() > 1;
      if (!whole) result = slice(result, dim, s.start(), s.stop(), s.step());
      ++dim;
    } else {
      const Variable& tensor = index.tensor();
      EBB_CHECK(tensor.defined(),
                "index: a tensor among the indices is undefined. Use None for a new dimension.");
      if (tensor.dim() == 0 && is_integral(tensor.dtype(), true)) {
        if (!is_mask(tensor)) {
          result = select(result, dim, tensor.item<std::int64_t>());
          continue;
        }
        result = unsqueeze(result, dim);
        record(tensors, dim++, truth_index(tensor.item<bool>(), x.device()));
      } else {
        record(tensors, dim++,
               tensor.device() == x.device() ? tensor : to(tensor, TensorOptions(x.device())));
      }
    }
  }
  return result;
}

// Leading dimensions of size 1 do not matter to what is assigned.
Variable without_leading_ones(const Variable& value) {
  std::size_t ones = 0;
  const IntArrayRef sizes = value.sizes();
  while (ones < sizes.size() && sizes[ones] == 1) ++ones;
  return ones == 0 ? value : reshape(value, sizes.slice(ones));
}

void assign(const Variable& place, const Variable& value) {
  copy_(place, place.sizes() == value.sizes() ? value : without_leading_ones(value));
}

}  // namespace

TensorIndex::TensorIndex(const char* text) : kind_(Kind::ellipsis) {
  EBB_CHECK(text && std::string_view(text) == "...",
            "TensorIndex: expected \"...\" to represent an ellipsis index, ", "but got \"", text ? text : "",
            "\".");
}

Variable get_item(const Variable& x, ArrayRef<TensorIndex> indices) {
  Tensors tensors;
  const Variable part = view_of(x, indices, tensors);
  if (!tensors.empty()) return index(part, tensors);
  return part.is_same(x) ? alias(x) : part;
}

void set_item(const Variable& x, ArrayRef<TensorIndex> indices, const Variable& value, bool accumulate) {
  // torch's shortcut: x[false] = value does nothing.
  if (indices.size() == 1 && indices[0].is_boolean() && !indices[0].boolean()) return;
  Tensors tensors;
  const Variable part = view_of(x, indices, tensors);
  if (!tensors.empty()) {
    index_put_(part, tensors, without_leading_ones(value), accumulate);
  } else {
    assign(part, accumulate ? add(part, value) : value);
  }
}

void set_item(const Variable& x, ArrayRef<TensorIndex> indices, const Scalar& value) {
  set_item(x, indices, Variable(ops::scalar_array(value, x.dtype(), x.device())));
}

Variable put_item(const Variable& x, ArrayRef<TensorIndex> indices, const Variable& value, bool accumulate) {
  bool only_tensors = true;
  Tensors tensors;
  for (const TensorIndex& i : indices) {
    only_tensors &= i.is_tensor();
    if (only_tensors) tensors.emplace_back(i.tensor());
  }
  if (only_tensors) return index_put(x, tensors, value, accumulate);
  const Variable out = clone(x, MemoryFormat::Contiguous);
  set_item(out, indices, value, accumulate);
  return out;
}

}  // namespace ebb::indexing
