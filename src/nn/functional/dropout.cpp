#include <ebb/nn/functional/dropout.h>
#include <ebb/ops/dropout.h>

namespace ebb::nn::functional {

namespace {
void check_probability(double p) {
  EBB_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
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
Variable dropout3d(Variable input, const Dropout3dFuncOptions& o) { return dropout2d(std::move(input), o); }
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

}  // namespace ebb::nn::functional
