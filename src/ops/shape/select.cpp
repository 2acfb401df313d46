// select, slice, narrow, diagonal and unfold, which return views, and their backward ops. select_scatter,
// slice_scatter, diagonal_scatter and as_strided_scatter are copies with one part replaced.
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/dims.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/shape/kernels.h"

#include <tuple>

namespace ebb {

namespace {

using autograd::GradList;

struct SelectBackward : autograd::Node {
  DimVector sizes;
  std::int64_t dim = 0, index = 0;
  std::string name() const override { return "SelectBackward0"; }
  GradList apply(GradList&& grads) override { return {select_backward(grads[0], sizes, dim, index)}; }
};

struct SelectBackwardBackward : autograd::Node {
  std::int64_t dim = 0, index = 0;
  std::string name() const override { return "SelectBackwardBackward0"; }
  GradList apply(GradList&& grads) override { return {select(grads[0], dim, index)}; }
};

struct SliceBackward : autograd::Node {
  DimVector sizes;
  std::int64_t dim = 0, start = 0, end = 0, step = 1;
  std::string name() const override { return "SliceBackward0"; }
  GradList apply(GradList&& grads) override {
    return {slice_backward(grads[0], sizes, dim, start, end, step)};
  }
};

struct SliceBackwardBackward : autograd::Node {
  std::int64_t dim = 0, start = 0, end = 0, step = 1;
  std::string name() const override { return "SliceBackwardBackward0"; }
  GradList apply(GradList&& grads) override { return {slice(grads[0], dim, start, end, step)}; }
};

struct DiagonalBackward : autograd::Node {
  DimVector sizes;
  std::int64_t offset = 0, dim1 = 0, dim2 = 1;
  std::string name() const override { return "DiagonalBackward0"; }
  GradList apply(GradList&& grads) override {
    return {diagonal_backward(grads[0], sizes, offset, dim1, dim2)};
  }
};

struct DiagonalBackwardBackward : autograd::Node {
  std::int64_t offset = 0, dim1 = 0, dim2 = 1;
  std::string name() const override { return "DiagonalBackwardBackward0"; }
  GradList apply(GradList&& grads) override { return {diagonal(grads[0], offset, dim1, dim2)}; }
};

struct UnfoldBackward : autograd::Node {
  DimVector sizes;
  std::int64_t dim = 0, size = 1, step = 1;
  std::string name() const override { return "UnfoldBackward0"; }
  GradList apply(GradList&& grads) override { return {unfold_backward(grads[0], sizes, dim, size, step)}; }
};

struct UnfoldBackwardBackward : autograd::Node {
  std::int64_t dim = 0, size = 1, step = 1;
  std::string name() const override { return "UnfoldBackwardBackward0"; }
  GradList apply(GradList&& grads) override { return {unfold(grads[0], dim, size, step)}; }
};

std::int64_t wrap_index(const char* op, std::int64_t index, std::int64_t dim, IntArrayRef sizes) {
  const std::int64_t size = sizes[dim];
  EBB_CHECK_INDEX(index >= -size && index < size, op, ": index ", index, " is out of bounds for dimension ",
                  dim, " with size ", size, " (shape ", sizes, ").");
  return index < 0 ? index + size : index;
}

// Wraps both dimensions, which must differ.
void check_diagonal(const char* op, std::int64_t& dim1, std::int64_t& dim2, std::int64_t rank) {
  const std::int64_t first = wrap_dim(op, dim1, rank), second = wrap_dim(op, dim2, rank);
  EBB_CHECK(first != second, op, ": dimensions cannot be identical, got ", dim1, " and ", dim2, ".");
  dim1 = first;
  dim2 = second;
}

// Wraps dim, and checks that the windows fit.
void check_unfold(const char* op, IntArrayRef sizes, std::int64_t& dim, std::int64_t size,
                  std::int64_t step) {
  dim = wrap_dim(op, dim, static_cast<std::int64_t>(sizes.size()));
  const std::int64_t extent = sizes.empty() ? 1 : sizes[dim];
  EBB_CHECK(size >= 0 && size <= extent, op, ": the maximum size for a window at dimension ", dim, " is ",
            extent, ", but the size is ", size, ".");
  EBB_CHECK(step > 0, op, ": step is ", step, " but must be positive.");
}

// Returns zeros of shape `sizes`, with grad written to their view part(zeros).
template <class N, class Part, class Fill>
Variable put_back(const char* op, const Variable& grad, IntArrayRef sizes, Part&& part, Fill&& fill) {
  NdArray out = ops::zeros_array(sizes, grad.dtype(), grad.device());
  NdArray place = part(out);
  EBB_CHECK(grad.sizes() == place.sizes() ||
                IntArrayRef(broadcast_shapes(op, grad.sizes(), place.sizes())) == place.sizes(),
            op, ": the selected part of an input of shape ", sizes, " has shape ", place.sizes(),
            ", but the gradient has ", grad.sizes(), ".");
  kernels::copy(grad.device(), place, grad.array().expand(place.sizes()));
  return ops::record<N>(std::move(out), fill, grad);
}

}  // namespace

Variable select(const Variable& x, std::int64_t dim, std::int64_t index) {
  EBB_CHECK_INDEX(x.dim() > 0, "select: cannot be applied to a 0-dim tensor. Use item() for its value.");
  dim = wrap_dim("select", dim, x.dim());
  index = wrap_index("select", index, dim, x.sizes());
  return ops::view_of<SelectBackward>(x, ops::select_array(x.array(), dim, index), [&](SelectBackward& node) {
    node.sizes = DimVector(x.sizes());
    node.dim = dim;
    node.index = index;
  });
}

Variable select_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t dim,
                         std::int64_t index) {
  EBB_CHECK_INDEX(!input_sizes.empty(), "select_backward: a 0-dim tensor has nothing to select from.");
  dim = wrap_dim("select_backward", dim, static_cast<std::int64_t>(input_sizes.size()));
  index = wrap_index("select_backward", index, dim, input_sizes);
  return put_back<SelectBackwardBackward>(
      "select_backward", grad, input_sizes,
      [&](const NdArray& out) { return ops::select_array(out, dim, index); },
      [&](SelectBackwardBackward& node) {
        node.dim = dim;
        node.index = index;
      });
}

Variable slice(const Variable& x, std::int64_t dim, optional<std::int64_t> start, optional<std::int64_t> end,
               std::int64_t step) {
  EBB_CHECK(x.dim() > 0, "slice: cannot be applied to a 0-dim tensor.");
  EBB_CHECK(step > 0, "slice: step must be positive, got ", step, ". Use flip for the reverse order.");
  dim = wrap_dim("slice", dim, x.dim());
  const auto [from, to] = ops::slice_bounds(start, end, x.sizes()[dim]);
  NdArray part = ops::slice_array(x.array(), dim, from, ops::slice_length(from, to, step), step);
  return ops::view_of<SliceBackward>(x, std::move(part), [&, from = from, to = to](SliceBackward& node) {
    node.sizes = DimVector(x.sizes());
    node.dim = dim;
    node.start = from;
    node.end = to;
    node.step = step;
  });
}

Variable slice_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t dim, std::int64_t start,
                        std::int64_t end, std::int64_t step) {
  EBB_CHECK(!input_sizes.empty(), "slice_backward: cannot be applied to a 0-dim tensor.");
  EBB_CHECK(step > 0, "slice_backward: step must be positive, got ", step, ".");
  dim = wrap_dim("slice_backward", dim, static_cast<std::int64_t>(input_sizes.size()));
  std::tie(start, end) = ops::slice_bounds(start, end, input_sizes[dim]);
  return put_back<SliceBackwardBackward>(
      "slice_backward", grad, input_sizes,
      [&](const NdArray& out) {
        return ops::slice_array(out, dim, start, ops::slice_length(start, end, step), step);
      },
      [&](SliceBackwardBackward& node) {
        node.dim = dim;
        node.start = start;
        node.end = end;
        node.step = step;
      });
}

Variable narrow(const Variable& x, std::int64_t dim, std::int64_t start, std::int64_t length) {
  EBB_CHECK(x.dim() > 0, "narrow: cannot be applied to a 0-dim tensor.");
  EBB_CHECK(length >= 0, "narrow: length must be non-negative, got ", length, ".");
  dim = wrap_dim("narrow", dim, x.dim());
  const std::int64_t size = x.sizes()[dim];
  EBB_CHECK_INDEX(start >= -size && start <= size, "narrow: start ", start, " is out of range for dimension ",
                  dim, " with size ", size, ".");
  if (start < 0) start += size;
  EBB_CHECK(start <= size - length, "narrow: start (", start, ") + length (", length,
            ") exceeds dimension size (", size, ").");
  return slice(x, dim, start, start + length, 1);
}

Variable narrow(const Variable& x, std::int64_t dim, const Variable& start, std::int64_t length) {
  EBB_CHECK(start.dim() == 0 && is_integral(start.dtype()),
            "narrow: start must be an integer or a 0-dim tensor of one, got ", start, ".");
  return narrow(x, dim, start.item<std::int64_t>(), length);
}

Variable narrow_copy(const Variable& x, std::int64_t dim, std::int64_t start, std::int64_t length) {
  return narrow(x, dim, start, length).clone(MemoryFormat::Contiguous);
}

Variable diagonal(const Variable& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  check_diagonal("diagonal", dim1, dim2, x.dim());
  return ops::view_of<DiagonalBackward>(x, ops::diagonal_array(x.array(), offset, dim1, dim2),
                                        [&](DiagonalBackward& node) {
                                          node.sizes = DimVector(x.sizes());
                                          node.offset = offset;
                                          node.dim1 = dim1;
                                          node.dim2 = dim2;
                                        });
}

Variable diagonal_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t offset,
                           std::int64_t dim1, std::int64_t dim2) {
  check_diagonal("diagonal_backward", dim1, dim2, static_cast<std::int64_t>(input_sizes.size()));
  return put_back<DiagonalBackwardBackward>(
      "diagonal_backward", grad, input_sizes,
      [&](const NdArray& out) { return ops::diagonal_array(out, offset, dim1, dim2); },
      [&](DiagonalBackwardBackward& node) {
        node.offset = offset;
        node.dim1 = dim1;
        node.dim2 = dim2;
      });
}

Variable unfold(const Variable& x, std::int64_t dim, std::int64_t size, std::int64_t step) {
  check_unfold("unfold", x.sizes(), dim, size, step);
  return ops::view_of<UnfoldBackward>(x, ops::unfold_array(x.array(), dim, size, step),
                                      [&](UnfoldBackward& node) {
                                        node.sizes = DimVector(x.sizes());
                                        node.dim = dim;
                                        node.size = size;
                                        node.step = step;
                                      });
}

Variable unfold_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t dim, std::int64_t size,
                         std::int64_t step) {
  check_unfold("unfold_backward", input_sizes, dim, size, step);
  const DType wide = ops::wide_dtype(grad.dtype());
  NdArray out = ops::zeros_array(input_sizes, wide, grad.device());
  const NdArray expected = ops::unfold_array(out, dim, size, step);
  EBB_CHECK(grad.sizes() == expected.sizes(), "unfold_backward: the windows of an input of shape ",
            input_sizes, " have shape ", expected.sizes(), ", but the gradient has ", grad.sizes(), ".");
  const NdArray windows = ops::cast_array(grad.array(), wide);
  if (input_sizes.empty()) {
    NdArray place = out.as_strided({size}, {1}, 0);
    kernels::accumulate(grad.device(), place, windows);
  } else {
    const std::int64_t last = windows.dim() - 1, count = windows.sizes()[dim];
    // Elements at the same position in different windows have different addresses, so one addition handles
    // all windows.
    for (std::int64_t i = 0; i < size; ++i) {
      NdArray place = ops::slice_array(out, dim, i, count, step);
      kernels::accumulate(grad.device(), place, ops::select_array(windows, last, i));
    }
  }
  return ops::record<UnfoldBackwardBackward>(
      ops::cast_array(out, grad.dtype()),
      [&](UnfoldBackwardBackward& node) {
        node.dim = dim;
        node.size = size;
        node.step = step;
      },
      grad);
}

namespace {

// Returns a contiguous clone of x, with src written to its view part(clone). copy_ records the gradients of x
// and src.
template <class Part>
Variable replaced(const char* op, const Variable& x, const Variable& src, Part&& part) {
  Variable out = clone(x, MemoryFormat::Contiguous);
  const Variable place = part(out);
  EBB_CHECK(place.sizes() == src.sizes(), op,
            ": expected src to have a size equal to the part it replaces: part ", place.sizes(), ", src ",
            src.sizes(), ".");
  copy_(place, src);
  return out;
}

}  // namespace

Variable select_scatter(const Variable& x, const Variable& src, std::int64_t dim, std::int64_t index) {
  return replaced("select_scatter", x, src, [&](const Variable& out) { return select(out, dim, index); });
}

Variable slice_scatter(const Variable& x, const Variable& src, std::int64_t dim, optional<std::int64_t> start,
                       optional<std::int64_t> end, std::int64_t step) {
  return replaced("slice_scatter", x, src,
                  [&](const Variable& out) { return slice(out, dim, start, end, step); });
}

Variable diagonal_scatter(const Variable& x, const Variable& src, std::int64_t offset, std::int64_t dim1,
                          std::int64_t dim2) {
  return replaced("diagonal_scatter", x, src,
                  [&](const Variable& out) { return diagonal(out, offset, dim1, dim2); });
}

Variable as_strided_scatter(const Variable& x, const Variable& src, IntArrayRef size, IntArrayRef stride,
                            optional<std::int64_t> storage_offset) {
  return replaced("as_strided_scatter", x, src,
                  [&](const Variable& out) { return as_strided(out, size, stride, storage_offset); });
}

}  // namespace ebb
