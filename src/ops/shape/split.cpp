// split, chunk, unbind, tensor_split, hsplit, vsplit and dsplit.
#include <ebb/autograd/record.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/common/views.h"

namespace ebb {

namespace {

using autograd::GradList;
using autograd::ViewKind;
using Extents = SmallVector<std::int64_t, 8>;

Variable joined(autograd::Node& node, const GradList& grads, std::int64_t dim, bool stacked) {
  std::vector<Variable> pieces;
  pieces.reserve(grads.size());
  for (std::size_t i = 0; i < grads.size(); ++i) pieces.push_back(node.grad_or_zeros(grads, i));
  return stacked ? stack(pieces, dim) : cat(pieces, dim);
}

struct SplitBackward : autograd::Node {
  std::int64_t dim = 0;
  std::string name() const override { return "SplitBackward0"; }
  GradList apply(GradList&& grads) override { return {joined(*this, grads, dim, false)}; }
};

struct SplitWithSizesBackward : SplitBackward {
  std::string name() const override { return "SplitWithSizesBackward0"; }
};

struct UnsafeSplitBackward : SplitBackward {
  std::string name() const override { return "UnsafeSplitBackward0"; }
};

struct UnsafeSplitWithSizesBackward : SplitBackward {
  std::string name() const override { return "UnsafeSplitWithSizesBackward0"; }
};

struct UnbindBackward : autograd::Node {
  std::int64_t dim = 0;
  std::string name() const override { return "UnbindBackward0"; }
  GradList apply(GradList&& grads) override { return {joined(*this, grads, dim, true)}; }
};

template <class N>
std::vector<Variable> cut(const Variable& x, IntArrayRef extents, std::int64_t dim, bool tracked) {
  const Ref<N> node = ops::node_of<N>([&](N& n) { n.dim = dim; }, x);
  std::vector<Variable> out;
  out.reserve(extents.size());
  std::int64_t start = 0;
  for (const std::int64_t extent : extents) {
    NdArray piece = ops::slice_array(x.array(), dim, start, extent);
    start += extent;
    if (tracked) {
      out.push_back(autograd::make_view(x, std::move(piece), node, ViewKind::one_of_many));
      continue;
    }
    out.emplace_back(std::move(piece));
    if (node) autograd::set_history(out.back(), node);
  }
  return out;
}

Extents equal_extents(const char* op, const Variable& x, std::int64_t size, std::int64_t& dim) {
  EBB_CHECK(x.dim() > 0, op, ": expects at least a 1-dimensional tensor.");
  dim = wrap_dim(op, dim, x.dim());
  const std::int64_t whole = x.sizes()[dim];
  EBB_CHECK(size >= 0, op, ": expects split_size to be non-negative, got ", size, ".");
  EBB_CHECK(size > 0 || whole == 0, op, ": split_size can only be 0 if the dimension size is 0, but it is ",
            whole, ".");
  Extents extents;
  std::int64_t rest = whole;
  do {
    extents.push_back(rest < size ? rest : size);
    rest -= extents.back();
  } while (rest > 0);
  return extents;
}

void check_extents(const char* op, const Variable& x, IntArrayRef extents, std::int64_t& dim) {
  EBB_CHECK(x.dim() > 0, op, ": expects at least a 1-dimensional tensor.");
  dim = wrap_dim(op, dim, x.dim());
  std::int64_t total = 0;
  for (const std::int64_t extent : extents) {
    EBB_CHECK(extent >= 0, op, ": expects split_sizes to be non-negative, got ", extents, ".");
    total += extent;
  }
  EBB_CHECK(total == x.sizes()[dim], op, ": expects split_sizes to sum exactly to ", x.sizes()[dim],
            " (the size of the tensor at dimension ", dim, "), but got ", extents, ".");
}

std::int64_t chunk_size(const char* op, const Variable& x, std::int64_t chunks, std::int64_t dim) {
  EBB_CHECK(x.dim() > 0, op, ": expects at least a 1-dimensional tensor.");
  EBB_CHECK(chunks > 0, op, ": expects `chunks` to be greater than 0, got ", chunks, ".");
  const std::int64_t size = x.sizes()[wrap_dim(op, dim, x.dim())];
  EBB_CHECK(size > 0 || chunks <= std::int64_t{1} << 24, op, ": ", chunks,
            " chunks of an empty dimension are too many. The limit is 2^24.");
  return size / chunks + (size % chunks != 0);
}

std::int64_t horizontal(const char* op, const Variable& x) {
  EBB_CHECK(x.dim() >= 1, op, ": requires a tensor with at least 1 dimension.");
  return x.dim() == 1 ? 0 : 1;
}

void check_sections(const char* op, const Variable& x, std::int64_t sections, std::int64_t dim) {
  EBB_CHECK(sections > 0 && x.size(dim) % sections == 0, op, ": cannot split dimension ", dim, " of size ",
            x.size(dim), " into ", sections, " sections of equal size.");
}

}  // namespace

std::vector<Variable> split(const Variable& x, std::int64_t split_size, std::int64_t dim) {
  const Extents extents = equal_extents("split", x, split_size, dim);
  return cut<SplitBackward>(x, extents, dim, true);
}

std::vector<Variable> split(const Variable& x, IntArrayRef split_sizes, std::int64_t dim) {
  return split_with_sizes(x, split_sizes, dim);
}

std::vector<Variable> split_with_sizes(const Variable& x, IntArrayRef split_sizes, std::int64_t dim) {
  check_extents("split_with_sizes", x, split_sizes, dim);
  return cut<SplitWithSizesBackward>(x, split_sizes, dim, true);
}

std::vector<Variable> unsafe_split(const Variable& x, std::int64_t split_size, std::int64_t dim) {
  const Extents extents = equal_extents("unsafe_split", x, split_size, dim);
  return cut<UnsafeSplitBackward>(x, extents, dim, false);
}

std::vector<Variable> unsafe_split_with_sizes(const Variable& x, IntArrayRef split_sizes, std::int64_t dim) {
  check_extents("unsafe_split_with_sizes", x, split_sizes, dim);
  return cut<UnsafeSplitWithSizesBackward>(x, split_sizes, dim, false);
}

std::vector<Variable> chunk(const Variable& x, std::int64_t chunks, std::int64_t dim) {
  const std::int64_t size = chunk_size("chunk", x, chunks, dim);
  // If the dimension is empty, all chunks are empty, but there are as many as requested.
  if (size == 0) return split_with_sizes(x, DimVector(static_cast<std::size_t>(chunks), 0), dim);
  return split(x, size, dim);
}

std::vector<Variable> unsafe_chunk(const Variable& x, std::int64_t chunks, std::int64_t dim) {
  const std::int64_t size = chunk_size("unsafe_chunk", x, chunks, dim);
  if (size == 0) return unsafe_split_with_sizes(x, DimVector(static_cast<std::size_t>(chunks), 0), dim);
  return unsafe_split(x, size, dim);
}

std::vector<Variable> unbind(const Variable& x, std::int64_t dim) {
  EBB_CHECK_INDEX(x.dim() > 0, "unbind: dimension specified as ", dim, " but the tensor has no dimensions.");
  dim = wrap_dim("unbind", dim, x.dim());
  const auto node = ops::node_of<UnbindBackward>([&](UnbindBackward& n) { n.dim = dim; }, x);
  std::vector<Variable> out;
  const std::int64_t count = x.sizes()[dim];
  out.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(autograd::make_view(x, ops::select_array(x.array(), dim, i), node, ViewKind::one_of_many));
  return out;
}

std::vector<Variable> tensor_split(const Variable& x, std::int64_t sections, std::int64_t dim) {
  EBB_CHECK(x.dim() > 0, "tensor_split: expected at least a 1-dimensional tensor.");
  dim = wrap_dim("tensor_split", dim, x.dim());
  EBB_CHECK(sections > 0, "tensor_split: number of sections must be larger than 0, got ", sections, ".");
  const std::int64_t size = x.sizes()[dim], least = size / sections, larger = size % sections;
  std::vector<Variable> out;
  std::int64_t start = 0;
  for (std::int64_t i = 0; i < sections; ++i) {
    const std::int64_t extent = least + (i < larger ? 1 : 0);
    out.push_back(slice(x, dim, start, start + extent));
    start += extent;
  }
  return out;
}

std::vector<Variable> tensor_split(const Variable& x, IntArrayRef indices, std::int64_t dim) {
  EBB_CHECK(x.dim() > 0, "tensor_split: expected at least a 1-dimensional tensor.");
  dim = wrap_dim("tensor_split", dim, x.dim());
  std::vector<Variable> out;
  std::int64_t start = 0;
  for (const std::int64_t end : indices) {
    out.push_back(slice(x, dim, start, end));
    start = end;
  }
  out.push_back(slice(x, dim, start, x.sizes()[dim]));
  return out;
}

std::vector<Variable> tensor_split(const Variable& x, const Variable& indices_or_sections, std::int64_t dim) {
  EBB_CHECK(
      indices_or_sections.is_cpu() && indices_or_sections.dtype() == kLong && indices_or_sections.dim() <= 1,
      "tensor_split: expected a Long tensor of at most one dimension on the CPU, got ", indices_or_sections,
      ".");
  if (indices_or_sections.dim() == 0) return tensor_split(x, indices_or_sections.item<std::int64_t>(), dim);
  const NdArray values = ops::contiguous_array(indices_or_sections.array());
  detail::host_access(values);
  return tensor_split(
      x, IntArrayRef(values.address_as<std::int64_t>(), static_cast<std::size_t>(values.numel())), dim);
}

std::vector<Variable> hsplit(const Variable& x, std::int64_t sections) {
  const std::int64_t dim = horizontal("hsplit", x);
  check_sections("hsplit", x, sections, dim);
  return tensor_split(x, sections, dim);
}

std::vector<Variable> hsplit(const Variable& x, IntArrayRef indices) {
  return tensor_split(x, indices, horizontal("hsplit", x));
}

std::vector<Variable> vsplit(const Variable& x, std::int64_t sections) {
  ops::check_dims("vsplit", x, 2, "requires a tensor with");
  check_sections("vsplit", x, sections, 0);
  return tensor_split(x, sections, 0);
}

std::vector<Variable> vsplit(const Variable& x, IntArrayRef indices) {
  ops::check_dims("vsplit", x, 2, "requires a tensor with");
  return tensor_split(x, indices, 0);
}

std::vector<Variable> dsplit(const Variable& x, std::int64_t sections) {
  ops::check_dims("dsplit", x, 3, "requires a tensor with");
  check_sections("dsplit", x, sections, 2);
  return tensor_split(x, sections, 2);
}

std::vector<Variable> dsplit(const Variable& x, IntArrayRef indices) {
  ops::check_dims("dsplit", x, 3, "requires a tensor with");
  return tensor_split(x, indices, 2);
}

}  // namespace ebb
