// tril, triu, diag, diag_embed and fill_diagonal_.
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/shape/kernels.h"

#include <algorithm>
#include <cstdlib>

namespace ebb {

namespace {

using autograd::GradList;

struct TrilBackward : autograd::Node {
  std::int64_t diagonal = 0;
  std::string name() const override { return "TrilBackward0"; }
  GradList apply(GradList&& grads) override { return {tril(grads[0], diagonal)}; }
};

struct TriuBackward : autograd::Node {
  std::int64_t diagonal = 0;
  std::string name() const override { return "TriuBackward0"; }
  GradList apply(GradList&& grads) override { return {triu(grads[0], diagonal)}; }
};

struct DiagBackward : autograd::Node {
  DimVector sizes;
  std::int64_t offset = 0;
  std::string name() const override { return "DiagBackward0"; }
  GradList apply(GradList&& grads) override {
    if (sizes.size() == 1) return {diagonal(grads[0], offset)};
    return {diagonal_backward(grads[0], sizes, offset, 0, 1)};
  }
};

struct DiagEmbedBackward : autograd::Node {
  std::int64_t offset = 0, dim1 = 0, dim2 = 1;
  std::string name() const override { return "DiagEmbedBackward0"; }
  GradList apply(GradList&& grads) override { return {diagonal(grads[0], offset, dim1, dim2)}; }
};

struct FillDiagonalBackward : autograd::Node {
  bool wrap = false;
  std::string name() const override { return "FillDiagonalBackward0"; }
  GradList apply(GradList&& grads) override;
};

// Returns `diagonal`, clamped to [-rows, columns]. At both ends of this range the diagonal is empty. The
// kernels add the diagonal to row numbers, and with larger values the sum could overflow.
std::int64_t checked_diagonal(const char* op, const Variable& x, std::int64_t diagonal) {
  ops::check_dims(op, x, 2, "input tensor must have");
  return std::clamp(diagonal, -x.size(-2), x.size(-1));
}

template <class N>
Variable triangle(const char* op, const Variable& x, std::int64_t diagonal, bool lower) {
  diagonal = checked_diagonal(op, x, diagonal);
  NdArray out = NdArray::empty(x.sizes(), x.dtype(), x.device());
  kernels::triangle(x.device(), out, x.array(), diagonal, lower);
  return ops::record<N>(std::move(out), [&](N& node) { node.diagonal = diagonal; }, x);
}

template <class N>
Variable& triangle_(const char* op, const Variable& x, std::int64_t diagonal, bool lower) {
  diagonal = checked_diagonal(op, x, diagonal);
  return ops::record_inplace<N>(
      x, op, [&](NdArray& out) { kernels::triangle(x.device(), out, x.array(), diagonal, lower); },
      [&](N& node) { node.diagonal = diagonal; });
}

// Returns the main diagonal x[i, i, ..., i] as a 1-d view.
NdArray diagonal_line(const NdArray& x) {
  std::int64_t least = x.sizes()[0], stride = 0;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    least = std::min(least, x.sizes()[d]);
    stride += x.strides()[d];
  }
  return x.as_strided({least}, {stride}, x.offset());
}

void fill_diagonal(const NdArray& x, const Scalar& value, bool wrap) {
  NdArray line = diagonal_line(x);
  kernels::fill(x.device(), line, value);
  if (!wrap || x.dim() != 2) return;
  const std::int64_t rows = x.sizes()[0], columns = x.sizes()[1];
  for (std::int64_t top = columns + 1; top < rows; top += columns + 1) {
    NdArray block = diagonal_line(ops::slice_array(x, 0, top, rows - top));
    kernels::fill(x.device(), block, value);
  }
}

GradList FillDiagonalBackward::apply(GradList&& grads) {
  const Variable& grad = grads[0];
  NdArray out = NdArray::empty(grad.sizes(), grad.dtype(), grad.device());
  kernels::copy(grad.device(), out, grad.array());
  fill_diagonal(out, 0, wrap);
  return {ops::record<FillDiagonalBackward>(
      std::move(out), [&](FillDiagonalBackward& node) { node.wrap = wrap; }, grad)};
}

}  // namespace

Variable tril(const Variable& x, std::int64_t diagonal) {
  return triangle<TrilBackward>("tril", x, diagonal, true);
}
Variable triu(const Variable& x, std::int64_t diagonal) {
  return triangle<TriuBackward>("triu", x, diagonal, false);
}
Variable& tril_(const Variable& x, std::int64_t diagonal) {
  return triangle_<TrilBackward>("tril_", x, diagonal, true);
}
Variable& triu_(const Variable& x, std::int64_t diagonal) {
  return triangle_<TriuBackward>("triu_", x, diagonal, false);
}

Variable diag(const Variable& x, std::int64_t diagonal) {
  EBB_CHECK(x.dim() == 1 || x.dim() == 2, "diag: matrix or a vector expected, got shape ", x.sizes(), ".");
  NdArray out;
  if (x.dim() == 1) {
    const std::int64_t size = x.numel() + std::abs(diagonal);
    out = ops::zeros_array({size, size}, x.dtype(), x.device());
    NdArray line = ops::diagonal_array(out, diagonal, 0, 1);
    kernels::copy(x.device(), line, x.array());
  } else {
    const NdArray line = ops::diagonal_array(x.array(), diagonal, 0, 1);
    out = NdArray::empty(line.sizes(), x.dtype(), x.device());
    kernels::copy(x.device(), out, line);
  }
  return ops::record<DiagBackward>(
      std::move(out),
      [&](DiagBackward& node) {
        node.sizes = DimVector(x.sizes());
        node.offset = diagonal;
      },
      x);
}

Variable diag_embed(const Variable& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  EBB_CHECK_INDEX(x.dim() > 0, "diag_embed: expects at least a 1-dimensional tensor.");
  const std::int64_t n = x.dim() + 1;
  const std::int64_t first = wrap_dim("diag_embed", dim1, n), second = wrap_dim("diag_embed", dim2, n);
  EBB_CHECK(first != second, "diag_embed: dimensions cannot be identical, got ", dim1, " and ", dim2, ".");
  const std::int64_t size = x.size(-1) + std::abs(offset);
  DimVector sizes(x.sizes());
  sizes.pop_back();
  sizes.insert(sizes.begin() + std::min(first, second), size);
  sizes.insert(sizes.begin() + std::max(first, second), size);
  NdArray out = ops::zeros_array(sizes, x.dtype(), x.device());
  NdArray line = ops::diagonal_array(out, offset, first, second);
  kernels::copy(x.device(), line, x.array());
  return ops::record<DiagEmbedBackward>(
      std::move(out),
      [&](DiagEmbedBackward& node) {
        node.offset = offset;
        node.dim1 = first;
        node.dim2 = second;
      },
      x);
}

Variable diagflat(const Variable& x, std::int64_t offset) { return diag(reshape(x, {-1}), offset); }

Variable& fill_diagonal_(const Variable& x, const Scalar& fill_value, bool wrap) {
  EBB_CHECK(x.dim() >= 2, "fill_diagonal_: dimensions must be larger than 1, got shape ", x.sizes(), ".");
  for (std::int64_t d = 1; d < x.dim() && x.dim() > 2; ++d)
    EBB_CHECK(x.sizes()[d] == x.sizes()[0],
              "fill_diagonal_: all dimensions of input must be of equal length, got ", x.sizes(), ".");
  ops::check_fits("fill_diagonal_", fill_value, x.dtype());
  return ops::record_inplace<FillDiagonalBackward>(
      x, "fill_diagonal_", [&](const NdArray& out) { fill_diagonal(out, fill_value, wrap); },
      [&](FillDiagonalBackward& node) { node.wrap = wrap; });
}

Variable fill_diagonal(const Variable& x, const Scalar& fill_value, bool wrap) {
  Variable out = clone(x);
  return fill_diagonal_(out, fill_value, wrap);
}

}  // namespace ebb
