// Convolutions and their transposes.
#include "onnx/windows.h"

namespace onnx {
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

// output_shape asks for padding: what is too much is cut, what is too little is added behind.
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

}  // namespace onnx
