// RMS normalisation: its function and its module.
#include <ebb/nn/init.h>
#include <ebb/nn/modules/norm.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/norm.h>

#include "nn/stateless.h"

namespace ebb::nn {

Variable functional::rms_norm(const Variable& input, const RMSNormFuncOptions& options) {
  return ebb::rms_norm(input, options.normalized_shape(), options.weight(), options.eps());
}

RMSNormImpl::RMSNormImpl(RMSNormOptions options_) : options(std::move(options_)) { RMSNormImpl::reset(); }
void RMSNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight", affine ? ebb::empty(options.normalized_shape()) : Variable(), affine);
  reset_parameters();
}
void RMSNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
}
void RMSNormImpl::pretty_print(std::ostream& stream) const {
  Fields fields(stream, typeid(RMSNormImpl));
  fields(IntArrayRef(options.normalized_shape()));
  if (options.eps()) fields("eps", *options.eps());
  fields("elementwise_affine", options.elementwise_affine());
}
Variable RMSNormImpl::forward(const Variable& input) {
  return at_path(*this,
                 [&] { return ebb::rms_norm(input, options.normalized_shape(), weight, options.eps()); });
}

std::tuple<Variable, Variable> RMSNormImpl::forward_sum(const Variable& input, const Variable& residual) {
  return at_path(*this, [&] {
    return ebb::add_rms_norm(input, residual, options.normalized_shape(), weight, options.eps());
  });
}

template class Cloneable<RMSNormImpl>;

}  // namespace ebb::nn
