// SqueezeExcitation and StochasticDepth.
#include <ebb/models/layers.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include "models/blocks.h"

#include <ostream>

namespace ebb::models {

SqueezeExcitationImpl::SqueezeExcitationImpl(SqueezeExcitationOptions options_) : options(options_) {
  SqueezeExcitationImpl::reset();
}

void SqueezeExcitationImpl::reset() {
  const std::int64_t input = options.input_channels(), squeezed = options.squeeze_channels();
  avgpool = register_module("avgpool", nn::AdaptiveAvgPool2d(1));
  fc1 = register_module("fc1", nn::Conv2d(input, squeezed, 1));
  fc2 = register_module("fc2", nn::Conv2d(squeezed, input, 1));
  activation = make_activation(options.activation());
  scale_activation = make_activation(options.scale_activation());
  register_module("activation", activation.ptr());
  register_module("scale_activation", scale_activation.ptr());
}

Variable SqueezeExcitationImpl::forward(const Variable& x) {
  const Variable squeezed = activation.forward(fc1(avgpool(x)));
  return scale_activation.forward(fc2(squeezed)) * x;
}

StochasticDepthImpl::StochasticDepthImpl(double p_) : p(p_) { StochasticDepthImpl::reset(); }

void StochasticDepthImpl::reset() {
  EBB_CHECK(p >= 0 && p <= 1, "StochasticDepth: p must be a probability, got ", p, ".");
}

void StochasticDepthImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::models::StochasticDepth(p=" << p << ", mode=row)";
}

Variable StochasticDepthImpl::forward(const Variable& x) {
  if (!is_training() || p == 0) return x;
  DimVector sizes(x.sizes().begin(), x.sizes().end());
  for (std::size_t i = 1; i < sizes.size(); ++i) sizes[i] = 1;
  const Variable kept = ebb::empty(sizes, x.options()).bernoulli_(1 - p);
  return x * (p < 1 ? kept.div_(1 - p) : kept);
}

}  // namespace ebb::models
