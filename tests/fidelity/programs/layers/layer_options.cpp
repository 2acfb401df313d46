// Modules at shapes a tutorial does not show: no batch, one element, odd strides, groups, dilation, every
// mode.
#include "fidelity.h"

namespace layer_options {

namespace nn = torch::nn;

void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  double phase = 0;
  for (auto& p : module.parameters()) p.copy_(ramp(p.sizes().vec(), -0.7, 0.7, phase += 0.41));
}

// The module's output, and the gradients of its input and parameters, of both orders.
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
