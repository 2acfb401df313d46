// torch::nn::functional with its options, beside the modules that wrap it.
#include "fidelity.h"

namespace functional {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

void run() {
  const Tensor x = ramp({3, 4}, -3, 3);
  section("activations", [&] {
    report("F.relu", F::relu(x));
    report("F.relu.options", F::relu(x.clone(), F::ReLUFuncOptions().inplace(true)));
    report("F.relu6", F::relu6(x * 3, F::ReLU6FuncOptions(false)));
    report("F.leaky_relu", F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.3)));
    report("F.prelu", F::prelu(x, torch::full({1}, 0.2, torch::kFloat64)));
    report("F.elu", F::elu(x, F::ELUFuncOptions().alpha(0.5)));
    report("F.selu", F::selu(x));
    report("F.celu", F::celu(x, F::CELUFuncOptions().alpha(0.5)));
    report("F.gelu", F::gelu(x));
    report("F.gelu.tanh", F::gelu(x, F::GELUFuncOptions().approximate("tanh")));
    report("F.silu", F::silu(x));
    report("F.mish", F::mish(x));
    report("F.softplus", F::softplus(x, F::SoftplusFuncOptions().beta(0.5).threshold(1.0)));
    report("F.softsign", F::softsign(x));
    report("F.tanhshrink", F::tanhshrink(x));
    report("F.hardtanh", F::hardtanh(x, F::HardtanhFuncOptions().min_val(-2).max_val(0.5)));
    report("F.hardshrink", F::hardshrink(x, F::HardshrinkFuncOptions().lambda(1)));
    report("F.softshrink", F::softshrink(x, F::SoftshrinkFuncOptions().lambda(1)));
    report("F.logsigmoid", F::logsigmoid(x));
    report("F.threshold", F::threshold(x, F::ThresholdFuncOptions(0.5, -9)));
    report("F.glu", F::glu(x, F::GLUFuncOptions(1)));
    report("F.softmax", F::softmax(x, F::SoftmaxFuncOptions(1)));
    report("F.softmax.number", F::softmax(x, 0));
    report("F.log_softmax", F::log_softmax(x, 1));
    report("F.one_hot", F::one_hot(torch::tensor({0, 1}), 3));
    report("F.linear", F::linear(x, ramp({2, 4}), ramp({2})));
    report("F.bilinear", F::bilinear(x, ramp({3, 2}), ramp({2, 4, 2}), ramp({2})));
    report("F.embedding", F::embedding(torch::tensor({0, 2}), x));
  });

  section("modules", [&] {
    report("ReLU", nn::ReLU()(x));
    report("ReLU6", nn::ReLU6()(x * 3));
    report("LeakyReLU", nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2))(x));
    report("ELU", nn::ELU(nn::ELUOptions().alpha(2))(x));
    report("SELU", nn::SELU()(x));
    report("CELU", nn::CELU()(x));
    report("GELU", nn::GELU()(x));
    report("SiLU", nn::SiLU()(x));
    report("Mish", nn::Mish()(x));
    report("Softplus", nn::Softplus(nn::SoftplusOptions().beta(2))(x));
    report("Softsign", nn::Softsign()(x));
    report("Tanhshrink", nn::Tanhshrink()(x));
    report("Hardtanh", nn::Hardtanh(nn::HardtanhOptions().min_val(-0.5).max_val(0.5))(x));
    report("Hardshrink", nn::Hardshrink()(x));
    report("Softshrink", nn::Softshrink(0.3)(x));
    report("LogSigmoid", nn::LogSigmoid()(x));
    report("Threshold", nn::Threshold(0.1, 20)(x));
    report("GLU", nn::GLU()(x));
    report("Sigmoid", nn::Sigmoid()(x));
    report("Tanh", nn::Tanh()(x));
    report("Softmax", nn::Softmax(1)(x));
    report("Softmin", nn::Softmin(1)(x));
    report("LogSoftmax", nn::LogSoftmax(1)(x));
    report("Softmax2d", nn::Softmax2d()(x.view({1, 3, 2, 2})));
    report("Identity", nn::Identity()(x));
    nn::PReLU prelu(nn::PReLUOptions().num_parameters(4).init(0.1));
    prelu->to(torch::kFloat64);
    report("PReLU", prelu(x));
    report("Flatten", nn::Flatten()(x.view({3, 2, 2})));
    report("Flatten.options", nn::Flatten(nn::FlattenOptions().start_dim(0).end_dim(1))(x));
    report("Unflatten", nn::Unflatten(nn::UnflattenOptions(1, {2, 2}))(x));
    report("PixelShuffle", nn::PixelShuffle(2)(x.view({1, 4, 3, 1})));
    nn::Bilinear bilinear(nn::BilinearOptions(4, 2, 3).bias(false));
    {
      torch::NoGradGuard guard;
      bilinear->weight.copy_(ramp({3, 4, 2}));
    }
    bilinear->to(torch::kFloat64);
    report("Bilinear", bilinear(x, ramp({3, 2})).to(torch::kFloat32));
    auto table = nn::Embedding::from_pretrained(ramp({3, 2}));
    report("Embedding.from", table(torch::tensor({2, 0})));
    report_value("Embedding.frozen", table->weight.requires_grad());
    nn::Embedding learned(nn::EmbeddingOptions(3, 2)._weight(ramp({3, 2})));
    Tensor out = learned(torch::tensor({{1, 1}, {0, 1}}));
    out.sum().backward();
    report("Embedding.grad", learned->weight.grad());
  });

  section("clipping", [] {
    auto make = [] {
      std::vector<Tensor> parameters = {ramp({2, 2}).requires_grad_(), ramp({3}).requires_grad_(),
                                        ramp({1}).requires_grad_()};
      ((parameters[0] * ramp({2, 2}, 1, 5)).sum() + (parameters[1] * ramp({3}, -9, 3)).sum()).backward();
      return parameters;
    };
    auto parameters = make();
    report_value("norm", nn::utils::clip_grad_norm_(parameters, 2.0));
    report("norm.0", parameters[0].grad());
    report("norm.1", parameters[1].grad());
    parameters = make();
    report_value("norm.inf", nn::utils::clip_grad_norm_(parameters, 1.5, kInf));
    report("norm.inf.1", parameters[1].grad());
    parameters = make();
    report_value("norm.1", nn::utils::clip_grad_norm_(parameters, 100.0, 1.0));
    report("norm.not", parameters[0].grad());
    nn::utils::clip_grad_value_(parameters, 1.25);
    report("value.1", parameters[1].grad());
    report_value("norm.single", nn::utils::clip_grad_norm_(parameters[0], 0.5));
    Tensor flat = nn::utils::parameters_to_vector(parameters);
    report("vector", flat);
    nn::utils::vector_to_parameters(torch::arange(8, torch::kFloat64), parameters);
    report("vector.0", parameters[0]);
    report_value("norm.infinite", std::isinf(nn::utils::clip_grad_norm_(
                                      [] {
                                        std::vector<Tensor> p = {torch::ones({1}).requires_grad_()};
                                        (p[0] * kInf).backward();
                                        return p;
                                      }(),
                                      1.0)));
    report_error("norm.error", [] {
      std::vector<Tensor> p = {torch::ones({1}).requires_grad_()};
      (p[0] * kInf).backward();
      nn::utils::clip_grad_norm_(p, 1.0, 2.0, true);
    });
  });

  section("interpolate", [] {
    const Tensor image = ramp({1, 2, 3, 4});
    grad1(
        "nearest",
        [](const Tensor& t) {
          return F::interpolate(
              t,
              F::InterpolateFuncOptions().scale_factor(std::vector<double>{2.0, 2.0}).mode(torch::kNearest));
        },
        image);
    grad1(
        "bilinear",
        [](const Tensor& t) {
          return F::interpolate(t, F::InterpolateFuncOptions()
                                       .size(std::vector<int64_t>{5, 6})
                                       .mode(torch::kBilinear)
                                       .align_corners(false));
        },
        image);
  });
}

const Program program("functional", run);

}  // namespace functional
