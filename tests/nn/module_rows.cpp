// Functions that rows of the table of modules share.
#include "nn/module_rows.h"

#include <algorithm>

namespace modules {

Variable Tensors::operator[](const std::string& name) const {
  const auto parameters = module.named_parameters();
  if (const Variable* p = parameters.find(name)) return p->detach();
  const auto buffers = module.named_buffers();
  if (const Variable* b = buffers.find(name)) return b->detach();
  return {};
}

Variable wave(const Sizes& sizes, double shift) {
  return ((ebb::arange(ebb::checked_numel(sizes), ebb::kDouble) * 0.7 + shift).sin() * 1.3).view(sizes);
}

Variable integers(const std::vector<std::int64_t>& values, const Sizes& sizes) {
  const Variable x = ebb::tensor(values, ebb::kLong);
  return sizes.empty() ? x : x.view(sizes);
}

void fill(nn::Module& module, double shift) {
  module.to(ebb::kDouble);
  ebb::NoGradGuard no_grad;
  for (Variable& p : module.parameters()) p.copy_(wave(p.sizes().vec(), shift += 0.61) * 0.5);
  for (const auto& b : module.named_buffers()) {
    if (b.key().ends_with("running_mean")) b.value().copy_(wave(b.value().sizes().vec(), shift));
    if (b.key().ends_with("running_var")) b.value().copy_(wave(b.value().sizes().vec(), shift).exp());
    if (b.key().ends_with("num_batches_tracked")) b.value().fill_(3);
  }
}

Variable windows(const Variable& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                 const Sizes& dilation, double border, bool ceil) {
  const std::size_t dims = kernel.size();
  Sizes pad, outputs;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t size = x.size(static_cast<std::int64_t>(d) + 2);
    const std::int64_t left = size + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1;
    std::int64_t count = (left + (ceil ? stride[d] - 1 : 0)) / stride[d] + 1;
    if (ceil && (count - 1) * stride[d] >= size + padding[d]) --count;
    outputs.push_back(count);
    pad.insert(pad.begin(), {padding[d], padding[d] + stride[d]});
  }
  const Variable padded = ebb::constant_pad_nd(x, pad, border);
  variable_list out;
  Sizes at(dims, 0);
  for (;;) {
    Variable part = padded;
    for (std::size_t d = 0; d < dims; ++d) {
      const std::int64_t begin = at[d] * dilation[d];
      part = part.slice(static_cast<std::int64_t>(d) + 2, begin, begin + (outputs[d] - 1) * stride[d] + 1,
                        stride[d]);
    }
    out.push_back(part);
    std::size_t d = dims;
    while (d > 0 && ++at[d - 1] == kernel[d - 1]) at[--d] = 0;
    if (d == 0) return ebb::stack(out);
  }
}

}  // namespace modules
