// Inputs laid out otherwise: transposed, stepped, offset, channels-last, expanded.
#include "optable/layouts.h"

#include "optable/samples.h"

namespace optable {
namespace {

Variable transposed(const Variable& x) {
  return x.dim() < 2 ? x.clone() : x.transpose(0, x.dim() - 1).contiguous().transpose(0, x.dim() - 1);
}
Variable stepped(const Variable& x) {
  if (x.dim() == 0) return x.clone();
  Sizes twice(x.sizes().begin(), x.sizes().end());
  twice.back() *= 2;
  const Variable view = ebb::zeros(twice, x.options()).slice(-1, 0, twice.back(), 2);
  return view.copy_(x);
}
Variable offset(const Variable& x) {
  const Variable view = ebb::zeros({x.numel() + 3}, x.options()).slice(0, 3).view(x.sizes());
  return view.copy_(x);
}
Variable channels_last(const Variable& x) {
  return x.dim() == 4 ? x.contiguous(ebb::MemoryFormat::ChannelsLast) : x.clone();
}
// All alike along the first dimension, on one piece of memory.
Variable expanded(const Variable& x) {
  return x.dim() == 0 || x.size(0) == 0 ? x.clone() : x.slice(0, 0, 1).clone().expand(x.sizes());
}

}  // namespace

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {{"transposed", transposed, false},
                                          {"stepped", stepped, false},
                                          {"offset", offset, false},
                                          {"channels last", channels_last, false},
                                          {"expanded", expanded, true}};
  return all;
}

variable_list laid_out_results(const Row& row, const variable_list& inputs) {
  variable_list leaves, out = row.function(inputs);
  if (row.derivative_order == 0) return out;
  const variable_list differentiable = with_grad(row, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    leaves.push_back(inputs[i].detach());
    if (differentiable[i].requires_grad()) leaves.back().requires_grad_();
  }
  for (const Variable& g : gradients(row, leaves, leaves_of(leaves))) out.push_back(g);
  return out;
}

}  // namespace optable
