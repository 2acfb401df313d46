// Weights and images that make_vision.py computes as well.
#include "fill.h"

#include <cmath>

namespace golden {

ebb::Tensor noise(std::uint32_t key, ebb::IntArrayRef sizes) {
  const ebb::Tensor out = ebb::empty(sizes, ebb::kDouble);
  auto* values = out.data_ptr<double>();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    std::uint32_t x = static_cast<std::uint32_t>(i) * 0x9E3779B1U + key * 0x85EBCA6BU;
    x ^= x >> 15;
    x *= 0x2C1B3C6DU;
    x ^= x >> 12;
    x *= 0x297A2D39U;
    x ^= x >> 15;
    values[i] = (x >> 8) / 8388608.0 - 1;
  }
  return out;
}

void fill(ebb::nn::Module& net) {
  const ebb::NoGradGuard no_grad;
  std::uint32_t key = 0;
  for (const auto& item : net.state_dict()) {
    const std::string& name = item.key();
    const ebb::Tensor& value = item.value();
    const std::uint32_t own = key++;
    if (name.ends_with("num_batches_tracked")) continue;
    ebb::Tensor x = noise(own, value.sizes());
    if (value.dim() >= 2)
      x *= std::sqrt(6 / static_cast<double>(value.numel() / value.size(0)));
    else if (name.ends_with("weight"))
      x = 1 + 0.2 * x;
    else if (name.ends_with("running_var"))
      x = 1 + 0.5 * x;
    else
      x *= 0.1;
    value.copy_(x);
  }
}

}  // namespace golden
