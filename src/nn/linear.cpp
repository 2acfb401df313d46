// Functions and modules of linear maps and reshapes: Identity, Linear, Bilinear, Flatten, Unflatten.
#include <ebb/nn/init.h>
#include <ebb/nn/modules/linear.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/shape.h>

#include "nn/stateless.h"

#include <cmath>

namespace ebb::nn {

namespace functional {

Variable linear(const Variable& input, const Variable& weight, const Variable& bias) {
  return bias.defined() ? ebb::linear(input, weight, bias) : ebb::linear(input, weight);
}

Variable bilinear(const Variable& input1, const Variable& input2, const Variable& weight,
                  const Variable& bias) {
  return bias.defined() ? ebb::bilinear(input1, input2, weight, bias) : ebb::bilinear(input1, input2, weight);
}

}  // namespace functional

namespace F = functional;

static Variable call(const IdentityImpl&, const Variable& x) { return x; }
EBB_STATELESS(IdentityImpl, detail::NoOptions, Variable);

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
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(bias, -bound, bound);
}

void LinearImpl::pretty_print(std::ostream& stream) const {
  Fields(stream, typeid(LinearImpl))("in_features", options.in_features())(
      "out_features", options.out_features())("bias", options.bias());
}

Variable LinearImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::linear(input, weight, bias); });
}

template class Cloneable<LinearImpl>;

static Variable call(const FlattenImpl& m, const Variable& x) {
  return x.flatten(m.options.start_dim(), m.options.end_dim());
}
static void print(Fields& out, const FlattenOptions& o) {
  out("start_dim", o.start_dim())("end_dim", o.end_dim());
}
EBB_STATELESS(FlattenImpl, FlattenOptions, Variable);

static Variable call(const UnflattenImpl& m, const Variable& x) {
  return x.unflatten(m.options.dim(), m.options.sizes());
}
static void print(Fields& out, const UnflattenOptions& o) {
  std::string sizes;
  for (const std::int64_t size : o.sizes()) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  out("dim", o.dim())("unflattened_size", "{" + sizes + "}");
}
EBB_STATELESS(UnflattenImpl, UnflattenOptions, Variable);

BilinearImpl::BilinearImpl(BilinearOptions options_) : options(options_) { BilinearImpl::reset(); }

void BilinearImpl::reset() {
  EBB_CHECK(options.in1_features() > 0, "Bilinear: in1_features must be > 0, but got ",
            options.in1_features(), ".");
  weight = register_parameter(
      "weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  if (options.bias())
    bias = register_parameter("bias", empty({options.out_features()}));
  else
    bias = register_parameter("bias", {}, /*requires_grad=*/false);
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = weight.size(1) > 0 ? 1 / std::sqrt(static_cast<double>(weight.size(1))) : 0;
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

void BilinearImpl::pretty_print(std::ostream& stream) const {
  Fields out(stream, typeid(BilinearImpl));
  out("in1_features", options.in1_features())("in2_features", options.in2_features());
  out("out_features", options.out_features())("bias", options.bias());
}

Variable BilinearImpl::forward(const Variable& input1, const Variable& input2) {
  return at_path(*this, [&] { return F::bilinear(input1, input2, weight, bias); });
}
template class Cloneable<BilinearImpl>;

}  // namespace ebb::nn
