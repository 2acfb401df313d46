// Windows of convolution and pooling, as ONNX describes them.
#include "onnx/windows.h"

namespace onnx {

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

}  // namespace onnx
