// Ops with sliding windows: convolution, pooling, resizing.
#include "onnx/call.h"

#include <limits>

// Sliding windows over the spatial axes, shared by convolutions and pools.

namespace onnx {

struct Windows {
  Ints kernel, stride, dilation;
  Ints begin, end;  ///< padding
  std::int64_t rank = 0;

  /// Reads the attributes; auto_pad is resolved for an input of these sizes.
  Windows(const Call& c, ebb::IntArrayRef input, Ints kernel);
  /// Whether all axes have equal padding on both sides.
  bool symmetric() const { return begin == end; }
  /// The padding as constant_pad_nd takes it.
  Ints pairs() const;
};

// Windows of convolution and pooling with the attributes of ONNX.

Windows::Windows(const Call& c, ebb::IntArrayRef input, Ints kernel_) : kernel(std::move(kernel_)) {
  rank = static_cast<std::int64_t>(kernel.size());
  stride = c.integers("strides", Ints(kernel.size(), 1));
  dilation = c.integers("dilations", Ints(kernel.size(), 1));
  const Ints pads = c.integers("pads", Ints(2 * kernel.size(), 0));
  begin.assign(pads.begin(), pads.begin() + rank);
  end.assign(pads.begin() + rank, pads.end());
  const std::string automatic = c.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic == "VALID") return;
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    const std::int64_t size = input[input.size() - kernel.size() + d];
    const std::int64_t out = (size + stride[d] - 1) / stride[d];
    const std::int64_t total =
        std::max<std::int64_t>(0, (out - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1 - size);
    begin[d] = automatic == "SAME_LOWER" ? total - total / 2 : total / 2;
    end[d] = total - begin[d];
  }
}

Ints Windows::pairs() const {
  Ints all;
  for (std::size_t d = kernel.size(); d-- > 0;) {
    all.push_back(begin[d]);
    all.push_back(end[d]);
  }
  return all;
}

// Convolutions and their transposes.

namespace {

// kernel_shape only repeats the shape of the weight.
Ints kernel_of(const Call& c) {
  c.ignore("kernel_shape");
  return c[1].sizes().slice(2).vec();
}

Tensors conv(const Call& c) {
  const Windows w(c, c[0].sizes(), kernel_of(c));
  const std::int64_t groups = c.integer("group", 1);
  const Tensor x = w.symmetric() ? c[0] : ebb::constant_pad_nd(c[0], w.pairs());
  const Ints padding = w.symmetric() ? w.begin : Ints(w.kernel.size(), 0);
  return {ebb::convolution(x, c[1], c.maybe(2), w.stride, padding, w.dilation, false,
                           Ints(w.kernel.size(), 0), groups)};
}

// output_shape determines the padding: excess elements are cut, missing ones are added at the end.
Tensors conv_transpose(const Call& c) {
  const Ints kernel = kernel_of(c);
  const std::size_t rank = kernel.size();
  const Ints stride = c.integers("strides", Ints(rank, 1)), dilation = c.integers("dilations", Ints(rank, 1));
  Ints extra = c.integers("output_padding", Ints(rank, 0)), wanted = c.integers("output_shape", {});
  const Ints pads = c.integers("pads", Ints(2 * rank, 0));
  const std::string automatic = c.text("auto_pad", "NOTSET");
  if (wanted.empty() && automatic != "NOTSET")
    for (std::size_t d = 0; d < rank; ++d)
      wanted.push_back(c[0].size(static_cast<std::int64_t>(d) + 2) * stride[d]);
  Ints begin(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  Ints end(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    const std::int64_t size = c[0].size(static_cast<std::int64_t>(d) + 2);
    const std::int64_t total =
        (size - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1 + extra[d] - wanted[d];
    if (total < 0) extra[d] -= total;
    const std::int64_t cut = std::max<std::int64_t>(total, 0);
    begin[d] = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    end[d] = cut - begin[d];
  }
  const bool symmetric = begin == end;
  const Tensor y = ebb::convolution(c[0], c[1], c.maybe(2), stride, symmetric ? begin : Ints(rank, 0),
                                    dilation, true, extra, c.integer("group", 1));
  if (symmetric) return {y};
  Ints cuts;
  for (std::size_t d = rank; d-- > 0;) {
    cuts.push_back(-begin[d]);
    cuts.push_back(-end[d]);
  }
  return {ebb::constant_pad_nd(y, cuts)};
}

}  // namespace

void add_conv(Ops& ops) {
  ops["Conv"] = conv;
  ops["ConvTranspose"] = conv_transpose;
}

// Pooling and resizing.

namespace {

// ebb's pools pad both sides equally and by at most half the kernel; other padding is applied before.
bool ebb_pads(const Windows& w) {
  bool can = w.symmetric();
  for (std::size_t d = 0; d < w.kernel.size(); ++d) can = can && 2 * w.begin[d] <= w.kernel[d];
  return can;
}

Tensor avg_pool(const Tensor& x, const Windows& w, const Ints& padding, bool ceil_mode, bool count_pad) {
  switch (w.rank) {
    case 1:
      return ebb::avg_pool1d(x, w.kernel, w.stride, padding, ceil_mode, count_pad);
    case 2:
      return ebb::avg_pool2d(x, w.kernel, w.stride, padding, ceil_mode, count_pad);
    default:
      return ebb::avg_pool3d(x, w.kernel, w.stride, padding, ceil_mode, count_pad);
  }
}

Tensors average_pool(const Call& c) {
  const Windows w(c, c[0].sizes(), c.integers("kernel_shape", {}));
  const bool ceil_mode = c.integer("ceil_mode", 0), count_pad = c.integer("count_include_pad", 0);
  if (ebb_pads(w)) return {avg_pool(c[0], w, w.begin, ceil_mode, count_pad)};
  const Ints none(w.kernel.size(), 0);
  const Tensor sums = avg_pool(ebb::constant_pad_nd(c[0], w.pairs()), w, none, ceil_mode, true);
  if (count_pad) return {sums};
  return {sums / avg_pool(ebb::constant_pad_nd(ebb::ones_like(c[0]), w.pairs()), w, none, ceil_mode, true)};
}

std::tuple<Tensor, Tensor> max_pool_nd(const Tensor& x, const Windows& w, const Ints& padding,
                                       bool ceil_mode) {
  switch (w.rank) {
    case 1:
      return ebb::max_pool1d_with_indices(x, w.kernel, w.stride, padding, w.dilation, ceil_mode);
    case 2:
      return ebb::max_pool2d_with_indices(x, w.kernel, w.stride, padding, w.dilation, ceil_mode);
    default:
      return ebb::max_pool3d_with_indices(x, w.kernel, w.stride, padding, w.dilation, ceil_mode);
  }
}

Tensors max_pool(const Call& c) {
  const Windows w(c, c[0].sizes(), c.integers("kernel_shape", {}));
  const bool ceil_mode = c.integer("ceil_mode", 0), columns_first = c.integer("storage_order", 0);
  if (!ebb_pads(w)) {
    EBB_CHECK(c.outputs() == 1, "MaxPool: the indices would be those of the padded input.");
    const Tensor padded = ebb::constant_pad_nd(c[0], w.pairs(), -std::numeric_limits<double>::infinity());
    return {std::get<0>(max_pool_nd(padded, w, Ints(w.kernel.size(), 0), ceil_mode))};
  }
  auto [values, indices] = max_pool_nd(c[0], w, w.begin, ceil_mode);
  if (c.outputs() == 1) return {values};
  const std::int64_t height = c[0].size(-2), width = c[0].size(-1);
  EBB_CHECK(w.rank == 2 && c[0].size(0) == 1 && c[0].size(1) == 1,
            "MaxPool: indices of more than one channel.");
  if (columns_first) indices = indices % width * height + ebb::div(indices, width, "floor");
  return {values, indices};
}

Tensors max_unpool(const Call& c) {
  const Windows w(c, c[0].sizes(), c.integers("kernel_shape", {}));
  EBB_CHECK(!c.has(2), "MaxUnpool: indices into one shape, output in another.");
  Ints size;
  for (std::size_t d = 0; d < w.kernel.size(); ++d)
    size.push_back((c[0].size(static_cast<std::int64_t>(d) + 2) - 1) * w.stride[d] + w.kernel[d] -
                   w.begin[d] - w.end[d]);
  return {ebb::max_unpool2d(c[0], c[1], size)};
}

Tensors resize(const Call& c) {
  namespace F = ebb::nn::functional;
  const std::string mode = c.text("mode", "nearest"),
                    place = c.text("coordinate_transformation_mode", "half_pixel");
  c.ignore("cubic_coeff_a"),
      c.ignore("exclude_outside");  // an option of cubic interpolation, which is refused below
  F::InterpolateFuncOptions options;
  if (mode == "nearest") {
    EBB_CHECK(place == "half_pixel" && c.text("nearest_mode", "round_prefer_floor") == "round_prefer_floor",
              "Resize: ebb takes the nearest pixel by half pixels.");
    options.mode(ebb::kNearestExact);
  } else {
    EBB_CHECK(mode == "linear", "Resize: the mode ", mode);
    EBB_CHECK(place == "half_pixel" || place == "pytorch_half_pixel" || place == "align_corners",
              "Resize: ", place);
    options.mode(ebb::kBilinear).align_corners(place == "align_corners");
  }
  if (c.has(3)) {
    const Ints sizes = c.numbers(3);
    options.size(Ints(sizes.begin() + 2, sizes.end()));
  } else {
    const Tensor scales = c[2].to(ebb::kDouble);
    std::vector<double> factors;
    for (std::int64_t d = 2; d < scales.numel(); ++d) factors.push_back(scales.select(0, d).item<double>());
    options.scale_factor(factors);
  }
  return {F::interpolate(c[0], options)};
}

// The predecessor of Resize: nearest neighbor with rounding down.
Tensors upsample(const Call& c) {
  namespace F = ebb::nn::functional;
  EBB_CHECK(c.text("mode", "nearest") == "nearest", "Upsample: only to the nearest pixel.");
  const Tensor scales = c[1].to(ebb::kDouble);
  return {F::interpolate(c[0], F::InterpolateFuncOptions()
                                   .mode(ebb::kNearest)
                                   .scale_factor(std::vector<double>{scales.select(0, 2).item<double>(),
                                                                     scales.select(0, 3).item<double>()}))};
}

}  // namespace

void add_pool(Ops& ops) {
  ops["AveragePool"] = average_pool;
  ops["MaxPool"] = max_pool;
  ops["MaxUnpool"] = max_unpool;
  ops["GlobalAveragePool"] = [](const Call& c) { return Tensors{ebb::adaptive_avg_pool2d(c[0], {1, 1})}; };
  ops["GlobalMaxPool"] = [](const Call& c) {
    return Tensors{std::get<0>(ebb::adaptive_max_pool2d(c[0], {1, 1}))};
  };
  ops["Resize"] = resize;
  ops["Upsample"] = upsample;
}

}  // namespace onnx
