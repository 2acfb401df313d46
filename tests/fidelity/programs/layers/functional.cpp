// Layers as functions, and the options of layers.
#include "fidelity.h"

// torch::nn::functional with its options, compared with the modules that wrap it.
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

// Modules with unusual options: no batch, one element, odd strides, groups, dilation, all modes.
namespace layer_options {

namespace nn = torch::nn;

void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  double phase = 0;
  for (auto& p : module.parameters()) p.copy_(ramp(p.sizes().vec(), -0.7, 0.7, phase += 0.41));
}

// The output of the module, and the first and second order gradients of its input and parameters.
template <class Holder>
void layer(const std::string& name, Holder module, const Shape& shape, int order = 2) {
  section(name, [&] {
    module->to(torch::kFloat64);
    fill(*module);
    Tensor x = ramp(shape, -2, 2).requires_grad_();
    const Tensor y = module->forward(x);
    report(name, y);
    std::vector<Tensor> wanted = {x};
    for (const auto& p : module->parameters()) wanted.push_back(p);
    const auto first = torch::autograd::grad({(y * ramp(y.sizes().vec(), 0.5, 1.5, 1.1)).sum()}, wanted, {},
                                             true, order > 1, true);
    Tensor total = torch::zeros({}, torch::kFloat64);
    for (size_t i = 0; i < first.size(); ++i) {
      report(name + ".d" + std::to_string(i), first[i]);
      if (order > 1 && first[i].defined() && first[i].requires_grad())
        total = total + (first[i] * ramp(first[i].sizes().vec(), 0.5, 2, 0.7)).sum();
    }
    if (order < 2 || !total.requires_grad()) return;
    const auto second = torch::autograd::grad({total}, wanted, {}, torch::nullopt, false, true);
    for (size_t i = 0; i < second.size(); ++i) report(name + ".dd" + std::to_string(i), second[i]);
  });
}

void run() {
  layer("linear.vector", nn::Linear(3, 2), {3});
  layer("linear.deep", nn::Linear(3, 2), {2, 1, 2, 3});
  layer("linear.empty", nn::Linear(3, 2), {0, 3});
  layer("conv1d.unbatched", nn::Conv1d(nn::Conv1dOptions(2, 3, 2)), {2, 5});
  layer("conv1d.dilated", nn::Conv1d(nn::Conv1dOptions(2, 4, 2).dilation(2).groups(2).padding(1)), {1, 2, 6});
  layer("conv2d.strided", nn::Conv2d(nn::Conv2dOptions(2, 2, {3, 2}).stride({2, 1}).padding({1, 0})),
        {2, 2, 5, 4});
  layer("conv2d.depthwise", nn::Conv2d(nn::Conv2dOptions(3, 6, 2).groups(3).bias(false)), {1, 3, 3, 3});
  layer("conv2d.circular", nn::Conv2d(nn::Conv2dOptions(1, 2, 3).padding(1).padding_mode(torch::kCircular)),
        {1, 1, 4, 3});
  layer("conv2d.reflect", nn::Conv2d(nn::Conv2dOptions(1, 1, 3).padding(1).padding_mode(torch::kReflect)),
        {1, 1, 3, 4});
  layer("conv2d.same", nn::Conv2d(nn::Conv2dOptions(1, 2, 3).padding(torch::kSame)), {1, 1, 3, 4});
  layer("conv2d.unbatched", nn::Conv2d(nn::Conv2dOptions(1, 2, 2)), {1, 3, 3});
  layer("conv3d", nn::Conv3d(nn::Conv3dOptions(1, 2, 2)), {1, 1, 3, 2, 3});
  layer("transpose1d",
        nn::ConvTranspose1d(nn::ConvTranspose1dOptions(2, 3, 3).stride(2).output_padding(1).padding(1)),
        {2, 2, 3});
  layer("transpose2d", nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 2, 2).stride(2).groups(2)),
        {1, 2, 2, 3});
  layer("bilinear2", nn::PReLU(nn::PReLUOptions().num_parameters(3)), {2, 3, 2});
  layer("batch_norm.2d", nn::BatchNorm1d(3), {4, 3});
  layer("batch_norm.3d", nn::BatchNorm3d(2), {2, 2, 2, 1, 3});
  layer("layer_norm.two", nn::LayerNorm(nn::LayerNormOptions({2, 3})), {4, 2, 3});
  layer("group_norm.one", nn::GroupNorm(nn::GroupNormOptions(1, 4)), {2, 4});
  layer("instance_norm", nn::InstanceNorm1d(nn::InstanceNorm1dOptions(3).affine(true)), {2, 3, 4});
  layer("lrn", nn::LocalResponseNorm(nn::LocalResponseNormOptions(3).alpha(0.1)), {1, 4, 2, 2});
  layer("max_pool.dilated", nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(1).dilation(2)), {1, 2, 4, 4});
  layer("max_pool.ceil", nn::MaxPool1d(nn::MaxPool1dOptions(2).stride(2).ceil_mode(true)), {1, 2, 5});
  layer("avg_pool.counted",
        nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(2).padding(1).count_include_pad(false)), {1, 1, 5, 4});
  layer("avg_pool.divisor", nn::AvgPool2d(nn::AvgPool2dOptions(2).divisor_override(3)), {1, 1, 4, 4});
  layer("avg_pool.3d", nn::AvgPool3d(2), {1, 1, 2, 4, 2});
  layer("lp_pool", nn::LPPool1d(nn::LPPool1dOptions(2, 3)), {1, 1, 6}, 1);
  layer("adaptive.max", nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({2, 3})), {1, 2, 5, 4});
  layer("adaptive.avg", nn::AdaptiveAvgPool1d(3), {2, 2, 7});
  layer("upsample.nearest",
        nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2}).mode(torch::kNearest)),
        {1, 2, 3});
  layer(
      "upsample.bilinear",
      nn::Upsample(
          nn::UpsampleOptions().size(std::vector<int64_t>{5, 3}).mode(torch::kBilinear).align_corners(false)),
      {1, 1, 3, 4});
  layer(
      "upsample.aligned",
      nn::Upsample(
          nn::UpsampleOptions().size(std::vector<int64_t>{4, 5}).mode(torch::kBilinear).align_corners(true)),
      {1, 1, 2, 3});
  layer("pad.reflect", nn::ReflectionPad1d(2), {1, 2, 4});
  layer("pad.replicate", nn::ReplicationPad2d(nn::ReplicationPad2dOptions({1, 0, 2, 1})), {1, 1, 2, 3});
  layer("pad.constant", nn::ConstantPad1d(nn::ConstantPad1dOptions({1, 2}, 3.5)), {2, 3});
  layer("pad.zero", nn::ZeroPad2d(1), {1, 1, 2, 2});
  layer("shuffle", nn::PixelShuffle(2), {1, 4, 2, 1});
  layer("unshuffle", nn::PixelUnshuffle(2), {1, 1, 4, 2});
  layer("fold", nn::Fold(nn::FoldOptions({3, 4}, {2, 2})), {1, 4, 6});
  layer("unfold", nn::Unfold(nn::UnfoldOptions({2, 2}).stride(2).padding(1)), {1, 2, 2, 3});
  layer("flatten", nn::Flatten(nn::FlattenOptions().start_dim(0).end_dim(1)), {2, 3, 2});
  layer("unflatten", nn::Unflatten(nn::UnflattenOptions(1, {3, 2})), {2, 6});
  layer("softmax.2d", nn::Softmax2d(), {1, 3, 2, 2});
  layer("glu", nn::GLU(nn::GLUOptions(1)), {2, 4});
  layer("hardtanh", nn::Hardtanh(nn::HardtanhOptions().min_val(-0.5).max_val(0.7)), {2, 3});
  layer("threshold", nn::Threshold(nn::ThresholdOptions(0.1, -3)), {2, 3});
  layer("celu", nn::CELU(nn::CELUOptions().alpha(0.7)), {5});
  layer("softplus", nn::Softplus(nn::SoftplusOptions().beta(2).threshold(3)), {5});
  layer("dropout.off", nn::Dropout(0.0), {2, 3});

  section("embedding", [] {
    nn::Embedding table(nn::EmbeddingOptions(5, 3).padding_idx(2).max_norm(1.0));
    table->to(torch::kFloat64);
    fill(*table);
    const Tensor out = table(torch::tensor({{0, 2}, {4, 4}}));
    report("embedding", out);
    out.square().sum().backward();
    report("embedding.grad", table->weight.grad());
    report("embedding.renormed", table->weight);
    auto frozen =
        nn::Embedding::from_pretrained(ramp({4, 2}), nn::EmbeddingFromPretrainedOptions().freeze(true));
    report("frozen", frozen(torch::tensor({3, 0})));
    report_value("frozen.requires", frozen->weight.requires_grad());
    nn::EmbeddingBag bag(nn::EmbeddingBagOptions(6, 2).mode(torch::kSum));
    bag->to(torch::kFloat64);
    fill(*bag);
    report("bag", bag->forward(torch::tensor({1, 2, 4, 5, 4, 3}), torch::tensor({0, 2, 5})));
  });

  section("losses", [] {
    const Tensor x = ramp({3, 4}), y = ramp({3, 4}, 0, 1, 2.0), c = torch::tensor({1, 0, 3});
    report("MSELoss", nn::MSELoss(nn::MSELossOptions(torch::kSum))(x, y));
    report("L1Loss", nn::L1Loss(nn::L1LossOptions(torch::kNone))(x, y));
    report("CrossEntropyLoss",
           nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().label_smoothing(0.2))(x, c));
    report("NLLLoss", nn::NLLLoss(nn::NLLLossOptions().ignore_index(0))(x.log_softmax(1), c));
    report("BCEWithLogitsLoss", nn::BCEWithLogitsLoss(nn::BCEWithLogitsLossOptions().pos_weight(
                                    torch::full({4}, 2.0, torch::kFloat64)))(x, y));
    report("KLDivLoss", nn::KLDivLoss(nn::KLDivLossOptions().reduction(torch::kBatchMean))(x, y));
    report("HuberLoss", nn::HuberLoss(nn::HuberLossOptions().delta(0.3))(x, y));
    report("SmoothL1Loss", nn::SmoothL1Loss(nn::SmoothL1LossOptions(torch::kSum).beta(0.3))(x, y));
    report("CosineEmbeddingLoss", nn::CosineEmbeddingLoss()(x, y, torch::tensor({1, -1, 1})));
    report("MarginRankingLoss",
           nn::MarginRankingLoss(nn::MarginRankingLossOptions().margin(0.2))(x[0], x[1], y[0].sign()));
    report("TripletMarginLoss",
           nn::TripletMarginLoss(nn::TripletMarginLossOptions().swap(true))(x, y, x.flip(0)));
    report("HingeEmbeddingLoss", nn::HingeEmbeddingLoss()(x, (y - 0.5).sign()));
    report("PoissonNLLLoss", nn::PoissonNLLLoss()(x, y));
    report("SoftMarginLoss", nn::SoftMarginLoss()(x, (y - 0.5).sign()));
  });
}

const Program program("layer_options", run);

}  // namespace layer_options
