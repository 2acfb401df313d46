#include <ebb/nn/functional/linear.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/linear.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include <cmath>
#include <ostream>

#include "nn/module_tools.h"

namespace ebb::nn {

namespace F = functional;

void IdentityImpl::reset() {}
Variable IdentityImpl::forward(const Variable& input) { return input; }
void IdentityImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Identity()"; }

LinearImpl::LinearImpl(LinearOptions options_) : options(options_) { LinearImpl::reset(); }

void LinearImpl::reset() {
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  if (options.bias())
    bias = register_parameter("bias", empty({options.out_features()}));
  else
    bias = register_parameter("bias", {}, /*requires_grad=*/false);
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5));
  if (!bias.defined()) return;
  const double fan_in = static_cast<double>(std::get<0>(init::_calculate_fan_in_and_fan_out(weight)));
  const double bound = 1 / std::sqrt(fan_in);
  init::uniform_(bias, -bound, bound);
}

void LinearImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Linear(in_features=" << options.in_features()
         << ", out_features=" << options.out_features() << ", bias=" << (options.bias() ? "true)" : "false)");
}

Variable LinearImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::linear(input, weight, bias); });
}

FlattenImpl::FlattenImpl(FlattenOptions options_) : options(std::move(options_)) { FlattenImpl::reset(); }
void FlattenImpl::reset() {}
Variable FlattenImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return input.flatten(options.start_dim(), options.end_dim()); });
}
void FlattenImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Flatten("
         << "start_dim=" << options.start_dim() << ", end_dim=" << options.end_dim() << ")";
}

UnflattenImpl::UnflattenImpl(UnflattenOptions options_) : options(std::move(options_)) {}
void UnflattenImpl::reset() {}
Variable UnflattenImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return input.unflatten(options.dim(), options.sizes()); });
}
void UnflattenImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Unflatten(dim=" << options.dim() << ", unflattened_size={";
  const char* separator = "";
  for (const std::int64_t size : options.sizes()) {
    stream << separator << size;
    separator = ", ";
  }
  stream << "})";
}

BilinearImpl::BilinearImpl(BilinearOptions options_) : options(options_) { BilinearImpl::reset(); }

void BilinearImpl::reset() {
  weight = register_parameter(
      "weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  if (options.bias())
    bias = register_parameter("bias", empty({options.out_features()}));
  else
    bias = register_parameter("bias", {}, /*requires_grad=*/false);
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

void BilinearImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Bilinear(in1_features=" << options.in1_features()
         << ", in2_features=" << options.in2_features() << ", out_features=" << options.out_features()
         << ", bias=" << (options.bias() ? "true)" : "false)");
}

Variable BilinearImpl::forward(const Variable& input1, const Variable& input2) {
  return at_path(*this, [&] { return F::bilinear(input1, input2, weight, bias); });
}

}  // namespace ebb::nn
