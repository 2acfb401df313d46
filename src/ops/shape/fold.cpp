// im2col and col2im: convert sliding windows to columns, and back. The windows are a 6-d view of the image,
// and a copy of the view yields the columns.
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/shape/kernels.h"

namespace ebb {

namespace {

using autograd::GradList;

struct Windows {
  std::int64_t kernel[2], dilation[2], padding[2], stride[2];

  Windows() = default;
  Windows(const char* op, IntArrayRef kernel_size, IntArrayRef dilation_, IntArrayRef padding_,
          IntArrayRef stride_) {
    const auto take = [&](std::int64_t(&to)[2], IntArrayRef from, const char* what, std::int64_t least) {
      EBB_CHECK(from.size() == 2, op, ": ", what, " must have 2 entries, got ", from, ".");
      for (int i = 0; i < 2; ++i) {
        ops::check_window(op, what, from[i], least, from);
        to[i] = from[i];
      }
    };
    take(kernel, kernel_size, "kernel_size", 1);
    take(dilation, dilation_, "dilation", 1);
    take(padding, padding_, "padding", 0);
    take(stride, stride_, "stride", 1);
  }

  std::int64_t padded(int i, std::int64_t size) const { return size + 2 * padding[i]; }
  std::int64_t blocks(int i, std::int64_t size) const {
    const std::int64_t room = padded(i, size) - dilation[i] * (kernel[i] - 1) - 1;
    return room < 0 ? 0 : room / stride[i] + 1;
  }
  void check_blocks(const char* op, std::int64_t h, std::int64_t w) const {
    EBB_CHECK(blocks(0, h) > 0 && blocks(1, w) > 0, op, ": given spatial size (", h, ", ", w,
              "), kernel_size (", kernel[0], ", ", kernel[1], "), dilation (", dilation[0], ", ", dilation[1],
              ") and padding (", padding[0], ", ", padding[1],
              "), there is no sliding block; its shape must be at least one.");
  }
};

struct Im2ColBackward : autograd::Node {
  std::int64_t size[2] = {};
  Windows windows;
  std::string name() const override { return "Im2ColBackward0"; }
  GradList apply(GradList&& grads) override {
    return {col2im(grads[0], size, windows.kernel, windows.dilation, windows.padding, windows.stride)};
  }
};

struct Col2ImBackward : autograd::Node {
  Windows windows;
  std::string name() const override { return "Col2ImBackward0"; }
  GradList apply(GradList&& grads) override {
    return {im2col(grads[0], windows.kernel, windows.dilation, windows.padding, windows.stride)};
  }
};

NdArray batched(const NdArray& x, std::int64_t dims) {
  if (x.dim() == dims) return x;
  DimVector sizes(x.sizes()), strides(x.strides());
  sizes.insert(sizes.begin(), 1);
  strides.insert(strides.begin(), 0);
  return x.as_strided(sizes, strides, x.offset());
}

// Returns the view of a padded image without its padding.
NdArray inside(const NdArray& padded, const Windows& windows, std::int64_t h, std::int64_t w) {
  return ops::slice_array(ops::slice_array(padded, 2, windows.padding[0], h), 3, windows.padding[1], w);
}

}  // namespace

Variable im2col(const Variable& x, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                IntArrayRef stride) {
  const Windows win("im2col", kernel_size, dilation, padding, stride);
  EBB_CHECK(
      (x.dim() == 3 || x.dim() == 4) && x.size(-1) > 0 && x.size(-2) > 0 && x.size(-3) > 0,
      "im2col: expected a 3D or 4D (batch mode) tensor in which only the batch may have size 0, got shape ",
      x.sizes(), ".");
  const NdArray image = batched(x.array(), 4);
  const std::int64_t n = image.sizes()[0], c = image.sizes()[1], h = image.sizes()[2], w = image.sizes()[3];
  win.check_blocks("im2col", h, w);
  NdArray source = image;
  if (win.padding[0] || win.padding[1]) {
    source = ops::zeros_array({n, c, win.padded(0, h), win.padded(1, w)}, x.dtype(), x.device());
    NdArray place = inside(source, win, h, w);
    kernels::copy(x.device(), place, image);
  }
  const std::int64_t rows = win.blocks(0, h), columns = win.blocks(1, w);
  const IntArrayRef s = source.strides();
  const DimVector sizes{n, c, win.kernel[0], win.kernel[1], rows, columns};
  const DimVector strides{
      s[0], s[1], s[2] * win.dilation[0], s[3] * win.dilation[1], s[2] * win.stride[0], s[3] * win.stride[1]};
  NdArray out = NdArray::empty(sizes, x.dtype(), x.device());
  kernels::copy(x.device(), out, source.as_strided(sizes, strides, source.offset()));
  DimVector shape{n, c * win.kernel[0] * win.kernel[1], rows * columns};
  if (x.dim() == 3) shape.erase(shape.begin());
  return ops::record<Im2ColBackward>(
      out.as_strided(shape, contiguous_strides(shape), 0),
      [&](Im2ColBackward& node) {
        node.size[0] = h;
        node.size[1] = w;
        node.windows = win;
      },
      x);
}

Variable col2im(const Variable& x, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
                IntArrayRef padding, IntArrayRef stride) {
  const Windows win("col2im", kernel_size, dilation, padding, stride);
  EBB_CHECK(output_size.size() == 2 && output_size[0] > 0 && output_size[1] > 0,
            "col2im: expected output_size to be 2 positive numbers, got ", output_size, ".");
  EBB_CHECK(
      (x.dim() == 2 || x.dim() == 3) && x.size(-1) > 0 && x.size(-2) > 0,
      "col2im: expected a 2D or 3D (batch mode) tensor in which only the batch may have size 0, got shape ",
      x.sizes(), ".");
  const std::int64_t h = output_size[0], w = output_size[1], area = win.kernel[0] * win.kernel[1];
  EBB_CHECK(x.size(-2) % area == 0,
            "col2im: expected size of input's channel dimension to be divisible by the ",
            "product of kernel_size ", kernel_size, ", but got ", x.size(-2), ".");
  win.check_blocks("col2im", h, w);
  const std::int64_t rows = win.blocks(0, h), columns = win.blocks(1, w);
  EBB_CHECK(x.size(-1) == rows * columns, "col2im: given output_size ", output_size, ", kernel_size ",
            kernel_size, ", dilation ", dilation, ", padding ", padding, " and stride ", stride,
            ", expected ", rows, " * ", columns, " = ", rows * columns, " sliding blocks, but got ",
            x.size(-1), ".");
  const DType wide = ops::wide_dtype(x.dtype());
  const NdArray blocks = ops::contiguous_array(batched(x.array(), 3), {wide});
  const std::int64_t n = blocks.sizes()[0], c = blocks.sizes()[1] / area;
  const DimVector split{n, c, win.kernel[0], win.kernel[1], rows, columns};
  const NdArray pieces = blocks.as_strided(split, contiguous_strides(split), blocks.offset());
  const NdArray sum = ops::zeros_array({n, c, win.padded(0, h), win.padded(1, w)}, wide, x.device());
  // Elements at the same position in different windows have different addresses, so one addition handles all
  // windows.
  for (std::int64_t i = 0; i < win.kernel[0]; ++i)
    for (std::int64_t j = 0; j < win.kernel[1]; ++j) {
      NdArray place = ops::slice_array(sum, 2, i * win.dilation[0], rows, win.stride[0]);
      place = ops::slice_array(place, 3, j * win.dilation[1], columns, win.stride[1]);
      kernels::accumulate(x.device(), place, ops::select_array(ops::select_array(pieces, 2, i), 2, j));
    }
  NdArray out = ops::contiguous_array(inside(sum, win, h, w), {x.dtype()});
  if (x.dim() == 2) out = ops::select_array(out, 0, 0);
  return ops::record<Col2ImBackward>(std::move(out), [&](Col2ImBackward& node) { node.windows = win; }, x);
}

}  // namespace ebb
