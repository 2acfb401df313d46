#include <ebb/nn/functional/activation.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/activation.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/softmax.h>

#include <ostream>

#include "nn/module_tools.h"

namespace ebb::nn {

namespace F = functional;

namespace {

/// Says whether the module works in place, and the closing bracket.
const char* inplace_end(bool inplace, bool alone = false) {
  if (!inplace) return ")";
  return alone ? "inplace=true)" : ", inplace=true)";
}

}  // namespace

ELUImpl::ELUImpl(ELUOptions options_) : options(std::move(options_)) { ELUImpl::reset(); }
void ELUImpl::reset() {}
Variable ELUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::elu(input, options); });
}
void ELUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::ELU("
         << "alpha=" << options.alpha() << inplace_end(options.inplace());
}

SELUImpl::SELUImpl(SELUOptions options_) : options(std::move(options_)) { SELUImpl::reset(); }
void SELUImpl::reset() {}
Variable SELUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::selu(input, options); });
}
void SELUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::SELU(" << inplace_end(options.inplace(), true);
}

HardshrinkImpl::HardshrinkImpl(HardshrinkOptions options_) : options(std::move(options_)) {
  HardshrinkImpl::reset();
}
void HardshrinkImpl::reset() {}
Variable HardshrinkImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::hardshrink(input, options); });
}
void HardshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Hardshrink(" << options.lambda() << ")";
}

HardtanhImpl::HardtanhImpl(HardtanhOptions options_) : options(std::move(options_)) { HardtanhImpl::reset(); }
void HardtanhImpl::reset() {
  EBB_CHECK(options.max_val() > options.min_val(), "Hardtanh: max_val must be greater than min_val, got ",
            options.max_val(), " and ", options.min_val(), ".");
}
Variable HardtanhImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::hardtanh(input, options); });
}
void HardtanhImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Hardtanh("
         << "min_val=" << options.min_val() << ", max_val=" << options.max_val()
         << inplace_end(options.inplace());
}

LeakyReLUImpl::LeakyReLUImpl(LeakyReLUOptions options_) : options(std::move(options_)) {
  LeakyReLUImpl::reset();
}
void LeakyReLUImpl::reset() {}
Variable LeakyReLUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::leaky_relu(input, options); });
}
void LeakyReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::LeakyReLU("
         << "negative_slope=" << options.negative_slope() << inplace_end(options.inplace());
}

SoftmaxImpl::SoftmaxImpl(SoftmaxOptions options_) : options(std::move(options_)) { SoftmaxImpl::reset(); }
void SoftmaxImpl::reset() {}
Variable SoftmaxImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::softmax(input, options.dim()); });
}
void SoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Softmax("
         << "dim=" << options.dim() << ")";
}

SoftminImpl::SoftminImpl(SoftminOptions options_) : options(std::move(options_)) { SoftminImpl::reset(); }
void SoftminImpl::reset() {}
Variable SoftminImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::softmin(input, options.dim()); });
}
void SoftminImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Softmin("
         << "dim=" << options.dim() << ")";
}

LogSoftmaxImpl::LogSoftmaxImpl(LogSoftmaxOptions options_) : options(std::move(options_)) {
  LogSoftmaxImpl::reset();
}
void LogSoftmaxImpl::reset() {}
Variable LogSoftmaxImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::log_softmax(input, options.dim()); });
}
void LogSoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::LogSoftmax("
         << "dim=" << options.dim() << ")";
}

PReLUImpl::PReLUImpl(PReLUOptions options_) : options(std::move(options_)) { PReLUImpl::reset(); }
void PReLUImpl::reset() {
  weight = this->register_parameter("weight", full({options.num_parameters()}, options.init()));
}
Variable PReLUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::prelu(input, weight); });
}
void PReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::PReLU("
         << "num_parameters=" << options.num_parameters() << ")";
}

ReLUImpl::ReLUImpl(ReLUOptions options_) : options(std::move(options_)) { ReLUImpl::reset(); }
void ReLUImpl::reset() {}
Variable ReLUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::relu(input, options); });
}
void ReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::ReLU(" << inplace_end(options.inplace(), true);
}

ReLU6Impl::ReLU6Impl(ReLU6Options options_) : options(std::move(options_)) { ReLU6Impl::reset(); }
void ReLU6Impl::reset() {}
Variable ReLU6Impl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::relu6(input, options); });
}
void ReLU6Impl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::ReLU6(" << inplace_end(options.inplace(), true);
}

RReLUImpl::RReLUImpl(RReLUOptions options_) : options(std::move(options_)) { RReLUImpl::reset(); }
void RReLUImpl::reset() {}
Variable RReLUImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::rrelu(input, F::RReLUFuncOptions()
                               .lower(options.lower())
                               .upper(options.upper())
                               .training(is_training())
                               .inplace(options.inplace()));
  });
}
void RReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::RReLU("
         << "lower=" << options.lower() << ", upper=" << options.upper() << inplace_end(options.inplace());
}

CELUImpl::CELUImpl(CELUOptions options_) : options(std::move(options_)) { CELUImpl::reset(); }
void CELUImpl::reset() {}
Variable CELUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::celu(input, options); });
}
void CELUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::CELU("
         << "alpha=" << options.alpha() << inplace_end(options.inplace());
}

GLUImpl::GLUImpl(GLUOptions options_) : options(std::move(options_)) { GLUImpl::reset(); }
void GLUImpl::reset() {}
Variable GLUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::glu(input, options); });
}
void GLUImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::GLU("
         << "dim=" << options.dim() << ")";
}

GELUImpl::GELUImpl(GELUOptions options_) : options(std::move(options_)) { GELUImpl::reset(); }
void GELUImpl::reset() {}
Variable GELUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::gelu(input, options); });
}
void GELUImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::GELU()"; }

SoftplusImpl::SoftplusImpl(SoftplusOptions options_) : options(std::move(options_)) { SoftplusImpl::reset(); }
void SoftplusImpl::reset() {}
Variable SoftplusImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::softplus(input, options); });
}
void SoftplusImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Softplus("
         << "beta=" << options.beta() << ", threshold=" << options.threshold() << ")";
}

SoftshrinkImpl::SoftshrinkImpl(SoftshrinkOptions options_) : options(std::move(options_)) {
  SoftshrinkImpl::reset();
}
void SoftshrinkImpl::reset() {}
Variable SoftshrinkImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::softshrink(input, options); });
}
void SoftshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Softshrink(" << options.lambda() << ")";
}

ThresholdImpl::ThresholdImpl(ThresholdOptions options_) : options(std::move(options_)) {
  ThresholdImpl::reset();
}
void ThresholdImpl::reset() {}
Variable ThresholdImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::threshold(input, options); });
}
void ThresholdImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Threshold("
         << "threshold=" << options.threshold() << ", value=" << options.value()
         << inplace_end(options.inplace());
}

void LogSigmoidImpl::reset() {}
Variable LogSigmoidImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::logsigmoid(input); });
}
void LogSigmoidImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::LogSigmoid()"; }

void SiLUImpl::reset() {}
Variable SiLUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::silu(input); });
}
void SiLUImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::SiLU()"; }

void MishImpl::reset() {}
Variable MishImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::mish(input); });
}
void MishImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Mish()"; }

void SigmoidImpl::reset() {}
Variable SigmoidImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return ebb::sigmoid(input); });
}
void SigmoidImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Sigmoid()"; }

void SoftsignImpl::reset() {}
Variable SoftsignImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::softsign(input); });
}
void SoftsignImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Softsign()"; }

void TanhImpl::reset() {}
Variable TanhImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return ebb::tanh(input); });
}
void TanhImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Tanh()"; }

void TanhshrinkImpl::reset() {}
Variable TanhshrinkImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::tanhshrink(input); });
}
void TanhshrinkImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Tanhshrink()"; }

void Softmax2dImpl::reset() {}
Variable Softmax2dImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    EBB_CHECK(input.dim() == 4 || input.dim() == 3, "Softmax2d requires a 3D or 4D tensor as input, got ",
              input.sizes());
    return F::softmax(input, -3);
  });
}
void Softmax2dImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Softmax2d()"; }

}  // namespace ebb::nn
