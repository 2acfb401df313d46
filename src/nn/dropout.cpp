// Dropout functions and modules.
#include <ebb/nn/modules/dropout.h>
#include <ebb/ops/random.h>
#include <ebb/ops/shape.h>

#include "nn/stateless.h"

namespace ebb::nn {

namespace functional {

namespace {
/// Throws unless p is a probability.
void check_probability(double p) {
  EBB_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p, ".");
}
/// Drops channels of one sample, which has no batch dimension.
Variable dropout_of_one(const Variable& input, const DropoutFuncOptions& o) {
  const Variable out = dropout2d(input.unsqueeze(0), o);
  return o.inplace() ? input : out.squeeze(0);
}
}  // namespace

Variable dropout(Variable input, const DropoutFuncOptions& o) {
  check_probability(o.p());
  return o.inplace() ? ebb::dropout_(input, o.p(), o.training()) : ebb::dropout(input, o.p(), o.training());
}
Variable dropout2d(Variable input, const Dropout2dFuncOptions& o) {
  check_probability(o.p());
  return o.inplace() ? ebb::feature_dropout_(input, o.p(), o.training())
                     : ebb::feature_dropout(input, o.p(), o.training());
}
Variable dropout1d(Variable input, const Dropout1dFuncOptions& o) {
  EBB_CHECK(input.defined() && (input.dim() == 2 || input.dim() == 3),
            "dropout1d: Expected 2D or 3D input, but received ", input.defined() ? input.dim() : 0,
            "D input.");
  return input.dim() == 2 ? dropout_of_one(input, o) : dropout2d(std::move(input), o);
}
Variable dropout3d(Variable input, const Dropout3dFuncOptions& o) {
  return !input.defined() || input.dim() == 5 ? dropout2d(std::move(input), o) : dropout_of_one(input, o);
}
Variable alpha_dropout(Variable input, const AlphaDropoutFuncOptions& o) {
  check_probability(o.p());
  return o.inplace() ? ebb::alpha_dropout_(input, o.p(), o.training())
                     : ebb::alpha_dropout(input, o.p(), o.training());
}
Variable feature_alpha_dropout(Variable input, const FeatureAlphaDropoutFuncOptions& o) {
  check_probability(o.p());
  return o.inplace() ? ebb::feature_alpha_dropout_(input, o.p(), o.training())
                     : ebb::feature_alpha_dropout(input, o.p(), o.training());
}

}  // namespace functional

namespace F = functional;

static void print(Fields& out, const DropoutOptions& o) { out("p", o.p())("inplace", o.inplace()); }
static void check(const DropoutOptions& o) { F::check_probability(o.p()); }

template <class FuncOptions, class M>
static FuncOptions func_options(const M& m) {
  return FuncOptions().p(m.options.p()).training(m.is_training()).inplace(m.options.inplace());
}

static Variable call(const DropoutImpl& m, const Variable& x) {
  return F::dropout(x, func_options<F::DropoutFuncOptions>(m));
}
EBB_STATELESS(DropoutImpl, DropoutOptions, Variable);

static Variable call(const Dropout1dImpl& m, const Variable& x) {
  return F::dropout1d(x, func_options<F::DropoutFuncOptions>(m));
}
EBB_STATELESS(Dropout1dImpl, DropoutOptions, Variable);

static Variable call(const Dropout2dImpl& m, const Variable& x) {
  return F::dropout2d(x, func_options<F::DropoutFuncOptions>(m));
}
EBB_STATELESS(Dropout2dImpl, DropoutOptions, Variable);

static Variable call(const Dropout3dImpl& m, const Variable& x) {
  return F::dropout3d(x, func_options<F::DropoutFuncOptions>(m));
}
EBB_STATELESS(Dropout3dImpl, DropoutOptions, Variable);

static Variable call(const AlphaDropoutImpl& m, const Variable& x) {
  return F::alpha_dropout(x, func_options<F::AlphaDropoutFuncOptions>(m));
}
EBB_STATELESS(AlphaDropoutImpl, DropoutOptions, Variable);

static Variable call(const FeatureAlphaDropoutImpl& m, const Variable& x) {
  return F::feature_alpha_dropout(x, func_options<F::AlphaDropoutFuncOptions>(m));
}
EBB_STATELESS(FeatureAlphaDropoutImpl, DropoutOptions, Variable);

}  // namespace ebb::nn
