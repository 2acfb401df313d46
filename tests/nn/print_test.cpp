// Modules are printed as in libtorch, with the namespace of ebb.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <sstream>

using namespace ebb;
using namespace ebb::nn;

namespace {

template <class M>
std::string text(const M& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

template <class M>
void prints(const M& module, const std::string& expected) {
  CHECK(text(module) == expected);
}

}  // namespace

TEST_CASE("activations print their options") {
  prints(ELU(), "ebb::nn::ELU(alpha=1)");
  prints(ELU(ELUOptions().alpha(0.5).inplace(true)), "ebb::nn::ELU(alpha=0.5, inplace=true)");
  prints(SELU(), "ebb::nn::SELU()");
  prints(SELU(SELUOptions(true)), "ebb::nn::SELU(inplace=true)");
  prints(Hardshrink(), "ebb::nn::Hardshrink(0.5)");
  prints(Hardshrink(HardshrinkOptions(42.42)), "ebb::nn::Hardshrink(42.42)");
  prints(Hardtanh(), "ebb::nn::Hardtanh(min_val=-1, max_val=1)");
  prints(Hardtanh(HardtanhOptions().min_val(-42.42).max_val(0.42).inplace(true)),
         "ebb::nn::Hardtanh(min_val=-42.42, max_val=0.42, inplace=true)");
  prints(LeakyReLU(), "ebb::nn::LeakyReLU(negative_slope=0.01)");
  prints(LeakyReLU(LeakyReLUOptions().negative_slope(0.42).inplace(true)),
         "ebb::nn::LeakyReLU(negative_slope=0.42, inplace=true)");
  prints(LogSigmoid(), "ebb::nn::LogSigmoid()");
  prints(Softmax(SoftmaxOptions(1)), "ebb::nn::Softmax(dim=1)");
  prints(Softmin(SoftminOptions(1)), "ebb::nn::Softmin(dim=1)");
  prints(LogSoftmax(LogSoftmaxOptions(1)), "ebb::nn::LogSoftmax(dim=1)");
  prints(Softmax2d(), "ebb::nn::Softmax2d()");
  prints(ReLU(), "ebb::nn::ReLU()");
  prints(ReLU(ReLUOptions().inplace(true)), "ebb::nn::ReLU(inplace=true)");
  prints(ReLU6(ReLU6Options().inplace(true)), "ebb::nn::ReLU6(inplace=true)");
  prints(ReLU6(), "ebb::nn::ReLU6()");
  prints(SiLU(SiLUOptions(true)), "ebb::nn::SiLU(inplace=true)");
  prints(Mish(), "ebb::nn::Mish()");
  prints(GLU(), "ebb::nn::GLU(dim=-1)");
  prints(GELU(), "ebb::nn::GELU()");
  prints(SiLU(), "ebb::nn::SiLU()");
  prints(Mish(), "ebb::nn::Mish()");
  prints(Sigmoid(), "ebb::nn::Sigmoid()");
  prints(Softplus(), "ebb::nn::Softplus(beta=1, threshold=20)");
  prints(Softshrink(), "ebb::nn::Softshrink(0.5)");
  prints(Softsign(), "ebb::nn::Softsign()");
  prints(Tanh(), "ebb::nn::Tanh()");
  prints(Tanhshrink(), "ebb::nn::Tanhshrink()");
  prints(Threshold(24.24, 42.42), "ebb::nn::Threshold(threshold=24.24, value=42.42)");
  prints(Threshold(ThresholdOptions(42.42, 24.24).inplace(true)),
         "ebb::nn::Threshold(threshold=42.42, value=24.24, inplace=true)");
}

TEST_CASE("linear and distance modules print their options") {
  prints(PReLU(), "ebb::nn::PReLU(num_parameters=1)");
  prints(PReLU(PReLUOptions().num_parameters(42)), "ebb::nn::PReLU(num_parameters=42)");
  prints(RReLU(), "ebb::nn::RReLU(lower=0.125, upper=0.333333)");
  prints(RReLU(RReLUOptions().lower(0.24).upper(0.42).inplace(true)),
         "ebb::nn::RReLU(lower=0.24, upper=0.42, inplace=true)");
  prints(CELU(), "ebb::nn::CELU(alpha=1)");
  prints(CELU(CELUOptions().alpha(42.42).inplace(true)), "ebb::nn::CELU(alpha=42.42, inplace=true)");
  prints(Identity(), "ebb::nn::Identity()");
  prints(Linear(3, 4), "ebb::nn::Linear(in_features=3, out_features=4, bias=true)");
  prints(Linear(LinearOptions(3, 4).bias(false)),
         "ebb::nn::Linear(in_features=3, out_features=4, bias=false)");
  prints(Flatten(), "ebb::nn::Flatten(start_dim=1, end_dim=-1)");
  prints(Flatten(FlattenOptions().start_dim(2).end_dim(4)), "ebb::nn::Flatten(start_dim=2, end_dim=4)");
  prints(Unflatten(UnflattenOptions(1, {2, 2})), "ebb::nn::Unflatten(dim=1, unflattened_size={2, 2})");
  prints(Bilinear(3, 2, 4), "ebb::nn::Bilinear(in1_features=3, in2_features=2, out_features=4, bias=true)");
  prints(Bilinear(BilinearOptions(3, 2, 4).bias(false)),
         "ebb::nn::Bilinear(in1_features=3, in2_features=2, out_features=4, bias=false)");
  prints(AvgPool1d(5), "ebb::nn::AvgPool1d(kernel_size=5, stride=5, padding=0)");
  prints(AvgPool2d(5), "ebb::nn::AvgPool2d(kernel_size=[5, 5], stride=[5, 5], padding=[0, 0])");
  prints(AvgPool2d(AvgPool2dOptions({5, 6})
                       .stride({1, 2})
                       .padding(1)
                       .ceil_mode(true)
                       .count_include_pad(false)
                       .divisor_override(3)),
         "ebb::nn::AvgPool2d(kernel_size=[5, 6], stride=[1, 2], padding=[1, 1])");
  prints(AvgPool3d(AvgPool3dOptions({5, 6, 7}).stride({1, 2, 3})),
         "ebb::nn::AvgPool3d(kernel_size=[5, 6, 7], stride=[1, 2, 3], padding=[0, 0, 0])");
  prints(MaxPool1d(5), "ebb::nn::MaxPool1d(kernel_size=5, stride=5, padding=0, dilation=1, ceil_mode=false)");
  prints(MaxPool2d(5),
         "ebb::nn::MaxPool2d(kernel_size=[5, 5], stride=[5, 5], padding=[0, 0], dilation=[1, 1], "
         "ceil_mode=false)");
  prints(MaxPool2d(MaxPool2dOptions({5, 6}).stride({1, 2}).padding(1).dilation(2).ceil_mode(true)),
         "ebb::nn::MaxPool2d(kernel_size=[5, 6], stride=[1, 2], padding=[1, 1], dilation=[2, 2], "
         "ceil_mode=true)");
  prints(MaxPool3d(5),
         "ebb::nn::MaxPool3d(kernel_size=[5, 5, 5], stride=[5, 5, 5], padding=[0, 0, 0], dilation=[1, 1, 1], "
         "ceil_mode=false)");
  prints(AdaptiveMaxPool1d(5), "ebb::nn::AdaptiveMaxPool1d(output_size=5)");
  prints(AdaptiveMaxPool2d(AdaptiveMaxPool2dOptions({5, nullopt})),
         "ebb::nn::AdaptiveMaxPool2d(output_size=[5, None])");
  prints(AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions({nullopt, 5})),
         "ebb::nn::AdaptiveAvgPool2d(output_size=[None, 5])");
  prints(AdaptiveAvgPool1d(5), "ebb::nn::AdaptiveAvgPool1d(output_size=5)");
  prints(AdaptiveAvgPool3d(AdaptiveAvgPool3dOptions(5)), "ebb::nn::AdaptiveAvgPool3d(output_size=[5, 5, 5])");
  prints(LPPool1d(2, 5), "ebb::nn::LPPool1d(norm_type=2, kernel_size=5, stride=5, ceil_mode=false)");
  prints(LPPool2d(LPPool2dOptions(1, {5, 6}).stride(2).ceil_mode(true)),
         "ebb::nn::LPPool2d(norm_type=1, kernel_size=[5, 6], stride=[2, 2], ceil_mode=true)");
  prints(BatchNorm1d(4),
         "ebb::nn::BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)");
  prints(BatchNorm1d(BatchNorm1dOptions(4).eps(0.5).momentum(0.1).affine(false).track_running_stats(true)),
         "ebb::nn::BatchNorm1d(4, eps=0.5, momentum=0.1, affine=false, track_running_stats=true)");
  prints(BatchNorm2d(BatchNorm2dOptions(4).momentum(nullopt)),
         "ebb::nn::BatchNorm2d(4, eps=1e-05, momentum=None, affine=true, track_running_stats=true)");
  prints(InstanceNorm1d(4),
         "ebb::nn::InstanceNorm1d(4, eps=1e-05, momentum=0.1, affine=false, track_running_stats=false)");
  prints(
      InstanceNorm2d(InstanceNorm2dOptions(4).eps(0.5).momentum(0.1).affine(false).track_running_stats(true)),
      "ebb::nn::InstanceNorm2d(4, eps=0.5, momentum=0.1, affine=false, track_running_stats=true)");
  prints(LayerNorm(LayerNormOptions({2, 2})),
         "ebb::nn::LayerNorm([2, 2], eps=1e-05, elementwise_affine=true)");
  prints(LayerNorm(LayerNormOptions({2, 2}).eps(2e-5).elementwise_affine(false)),
         "ebb::nn::LayerNorm([2, 2], eps=2e-05, elementwise_affine=false)");
  prints(RMSNorm(RMSNormOptions({2, 2})), "ebb::nn::RMSNorm([2, 2], elementwise_affine=true)");
  prints(RMSNorm(RMSNormOptions({2}).eps(0.5).elementwise_affine(false)),
         "ebb::nn::RMSNorm([2], eps=0.5, elementwise_affine=false)");
  prints(GroupNorm(GroupNormOptions(2, 6)), "ebb::nn::GroupNorm(2, 6, eps=1e-05, affine=true)");
  prints(GroupNorm(GroupNormOptions(2, 6).affine(false)),
         "ebb::nn::GroupNorm(2, 6, eps=1e-05, affine=false)");
  prints(LocalResponseNorm(LocalResponseNormOptions(2)),
         "ebb::nn::LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1)");
  prints(AlphaDropout(), "ebb::nn::AlphaDropout(p=0.5, inplace=false)");
  prints(FeatureAlphaDropout(FeatureAlphaDropoutOptions(0.2).inplace(true)),
         "ebb::nn::FeatureAlphaDropout(p=0.2, inplace=true)");
  prints(ReflectionPad1d(2), "ebb::nn::ReflectionPad1d(padding=[2, 2])");
  prints(ReflectionPad2d(ReflectionPad2dOptions({1, 2, 3, 4})),
         "ebb::nn::ReflectionPad2d(padding=[1, 2, 3, 4])");
  prints(ReplicationPad1d(ReplicationPad1dOptions({3, 1})), "ebb::nn::ReplicationPad1d(padding=[3, 1])");
  prints(ReplicationPad3d(1), "ebb::nn::ReplicationPad3d(padding=[1, 1, 1, 1, 1, 1])");
  prints(ZeroPad2d(2), "ebb::nn::ZeroPad2d(padding=[2, 2, 2, 2])");
  prints(ConstantPad1d(3, 3.5), "ebb::nn::ConstantPad1d(padding=[3, 3], value=3.5)");
  prints(ConstantPad2d(ConstantPad2dOptions({3, 0, 2, 1}, 3.5)),
         "ebb::nn::ConstantPad2d(padding=[3, 0, 2, 1], value=3.5)");
  prints(Unfold(3), "ebb::nn::Unfold(kernel_size=[3, 3], dilation=[1, 1], padding=[0, 0], stride=[1, 1])");
  prints(Unfold(UnfoldOptions({2, 4}).padding(1).stride(2)),
         "ebb::nn::Unfold(kernel_size=[2, 4], dilation=[1, 1], padding=[1, 1], stride=[2, 2])");
  prints(Fold(FoldOptions({2, 2}, {5, 5})),
         "ebb::nn::Fold(output_size=[2, 2], kernel_size=[5, 5], dilation=[1, 1], padding=[0, 0], stride=[1, "
         "1])");
  prints(Fold(FoldOptions({8, 8}, {3, 3}).dilation(2).padding({2, 1}).stride(2)),
         "ebb::nn::Fold(output_size=[8, 8], kernel_size=[3, 3], dilation=[2, 2], padding=[2, 1], stride=[2, "
         "2])");
  prints(CosineSimilarity(), "ebb::nn::CosineSimilarity(dim=1, eps=1e-08)");
  prints(CosineSimilarity(CosineSimilarityOptions().dim(0).eps(0.5)),
         "ebb::nn::CosineSimilarity(dim=0, eps=0.5)");
  prints(PairwiseDistance(), "ebb::nn::PairwiseDistance(p=2, eps=1e-06, keepdim=false)");
  prints(PairwiseDistance(PairwiseDistanceOptions().p(3).eps(0.5).keepdim(true)),
         "ebb::nn::PairwiseDistance(p=3, eps=0.5, keepdim=true)");
  prints(Functional(relu), "ebb::nn::Functional()");
  prints(Sequential(), "ebb::nn::Sequential");
}

TEST_CASE("convolutions print their options") {
  prints(Conv1d(3, 4, 5), "ebb::nn::Conv1d(3, 4, kernel_size=5, stride=1)");
  prints(Conv2d(3, 4, 5), "ebb::nn::Conv2d(3, 4, kernel_size=[5, 5], stride=[1, 1])");
  prints(Conv2d(Conv2dOptions(3, 4, 5).stride(2)),
         "ebb::nn::Conv2d(3, 4, kernel_size=[5, 5], stride=[2, 2])");
  prints(Conv2d(Conv2dOptions(3, 4, {5, 6})
                    .stride({1, 2})
                    .padding(3)
                    .dilation(2)
                    .groups(1)
                    .bias(false)
                    .padding_mode(kCircular)),
         "ebb::nn::Conv2d(3, 4, kernel_size=[5, 6], stride=[1, 2], padding=[3, 3], dilation=[2, 2], "
         "bias=false, padding_mode=kCircular)");
  prints(Conv3d(Conv3dOptions(4, 4, {5, 6, 7}).groups(2).padding(kSame)),
         "ebb::nn::Conv3d(4, 4, kernel_size=[5, 6, 7], stride=[1, 1, 1], padding='same', groups=2)");
  prints(Conv1d(Conv1dOptions(3, 4, 3).padding(kValid)),
         "ebb::nn::Conv1d(3, 4, kernel_size=3, stride=1, padding='valid')");
  prints(ConvTranspose1d(3, 4, 5), "ebb::nn::ConvTranspose1d(3, 4, kernel_size=5, stride=1)");
  prints(
      ConvTranspose2d(
          ConvTranspose2dOptions(3, 4, {5, 6}).stride({1, 2}).output_padding({0, 1}).padding(1).dilation(1)),
      "ebb::nn::ConvTranspose2d(3, 4, kernel_size=[5, 6], stride=[1, 2], padding=[1, 1], output_padding=[0, "
      "1])");
  prints(ConvTranspose3d(ConvTranspose3dOptions(4, 4, {5, 6, 7})),
         "ebb::nn::ConvTranspose3d(4, 4, kernel_size=[5, 6, 7], stride=[1, 1, 1])");
}

TEST_CASE("normalisations and dropouts print their options") {
  prints(Dropout(), "ebb::nn::Dropout(p=0.5, inplace=false)");
  prints(Dropout(DropoutOptions(0.42).inplace(true)), "ebb::nn::Dropout(p=0.42, inplace=true)");
  prints(Dropout2d(), "ebb::nn::Dropout2d(p=0.5, inplace=false)");
  prints(Dropout3d(0.42), "ebb::nn::Dropout3d(p=0.42, inplace=false)");
}

TEST_CASE("embedding, padding and shape modules print their options") {
  prints(Embedding(10, 2), "ebb::nn::Embedding(num_embeddings=10, embedding_dim=2)");
  prints(
      Embedding(
          EmbeddingOptions(10, 2).padding_idx(3).max_norm(2).norm_type(2.5).scale_grad_by_freq(true).sparse(
              true)),
      "ebb::nn::Embedding(num_embeddings=10, embedding_dim=2, padding_idx=3, max_norm=2, norm_type=2.5, "
      "scale_grad_by_freq=true, sparse=true)");
  prints(EmbeddingBag(10, 2), "ebb::nn::EmbeddingBag(num_embeddings=10, embedding_dim=2)");
  prints(EmbeddingBag(EmbeddingBagOptions(10, 2).max_norm(2)),
         "ebb::nn::EmbeddingBag(num_embeddings=10, embedding_dim=2, max_norm=2)");
  prints(EmbeddingBag(EmbeddingBagOptions(10, 2)
                          .max_norm(2)
                          .norm_type(2.5)
                          .scale_grad_by_freq(true)
                          .sparse(true)
                          .mode(kSum)
                          .padding_idx(5)),
         "ebb::nn::EmbeddingBag(num_embeddings=10, embedding_dim=2, max_norm=2, norm_type=2.5, "
         "scale_grad_by_freq=true, sparse=true, mode=kSum, padding_idx=5)");
  prints(PixelShuffle(5), "ebb::nn::PixelShuffle(upscale_factor=5)");
  prints(PixelUnshuffle(5), "ebb::nn::PixelUnshuffle(downscale_factor=5)");
  prints(Upsample(
             UpsampleOptions().scale_factor(std::vector<double>({2, 3})).mode(kBilinear).align_corners(true)),
         "ebb::nn::Upsample(scale_factor=[2, 3], mode=kBilinear)");
  prints(Upsample(UpsampleOptions().size(std::vector<int64_t>({3})).mode(kNearest)),
         "ebb::nn::Upsample(size=[3], mode=kNearest)");
  prints(UpsamplingBilinear2d(Upsampling2dOptions().scale_factor(2.0)),
         "ebb::nn::UpsamplingBilinear2d(scale_factor=[2, 2])");
  prints(UpsamplingNearest2d(Upsampling2dOptions().size(ExpandingArray<2>(3))),
         "ebb::nn::UpsamplingNearest2d(size=[3, 3])");
}

TEST_CASE("losses print their options") {
  prints(L1Loss(), "ebb::nn::L1Loss()");
  prints(KLDivLoss(), "ebb::nn::KLDivLoss()");
  prints(MSELoss(), "ebb::nn::MSELoss()");
  prints(BCELoss(), "ebb::nn::BCELoss()");
  prints(HingeEmbeddingLoss(HingeEmbeddingLossOptions().margin(4)), "ebb::nn::HingeEmbeddingLoss(margin=4)");
  prints(CosineEmbeddingLoss(CosineEmbeddingLossOptions().margin(0.25)),
         "ebb::nn::CosineEmbeddingLoss(margin=0.25)");
  prints(MultiLabelMarginLoss(), "ebb::nn::MultiLabelMarginLoss()");
  prints(SoftMarginLoss(), "ebb::nn::SoftMarginLoss()");
  prints(MultiLabelSoftMarginLoss(), "ebb::nn::MultiLabelSoftMarginLoss()");
  prints(TripletMarginLoss(TripletMarginLossOptions().margin(3).p(2).eps(1e-6).swap(false)),
         "ebb::nn::TripletMarginLoss(margin=3, p=2, eps=1e-06, swap=false)");
  prints(SmoothL1Loss(), "ebb::nn::SmoothL1Loss");
  prints(HuberLoss(), "ebb::nn::HuberLoss");
  prints(PoissonNLLLoss(), "ebb::nn::PoissonNLLLoss()");
  prints(MarginRankingLoss(), "ebb::nn::MarginRankingLoss()");
  prints(NLLLoss(), "ebb::nn::NLLLoss()");
  prints(CrossEntropyLoss(), "ebb::nn::CrossEntropyLoss()");
  prints(BCEWithLogitsLoss(), "ebb::nn::BCEWithLogitsLoss()");
}

TEST_CASE("containers print their content") {
  prints(ModuleList(Linear(3, 4), BatchNorm1d(4)),
         "ebb::nn::ModuleList(\n  (0): ebb::nn::Linear(in_features=3, out_features=4, bias=true)\n"
         "  (1): ebb::nn::BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)\n)");
  prints(Sequential({{"a", Linear(1, 2)}, {"b", Sequential(ReLU())}}),
         "ebb::nn::Sequential(\n  (a): ebb::nn::Linear(in_features=1, out_features=2, bias=true)\n"
         "  (b): ebb::nn::Sequential(\n    (0): ebb::nn::ReLU()\n  )\n)");
  ParameterDict dict;
  dict->insert("p", zeros({2, 3}));
  prints(dict, "ebb::nn::ParameterDict(\n(p): Parameter containing: [Float of size [2, 3]]\n)");
  prints(ParameterList(zeros({3}, kDouble)),
         "ebb::nn::ParameterList(\n(0): Parameter containing: [Double of size [3]]\n)");
}
