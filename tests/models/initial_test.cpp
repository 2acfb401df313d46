// The same seed gives torchvision's first weights.
#include <ebb/models.h>

#include "golden.h"
#include "support/catch.h"

using namespace ebb;

namespace {

template <class Make>
void check(const std::string& name, Make make) {
  INFO(name);
  manual_seed(7);
  const auto net = make();
  auto line = golden::read_line("initial", name);
  golden::Ends wanted, got{0, 0};
  for (double value = 0; line >> value;) wanted.push_back(value);
  const auto parameters = net->parameters();
  for (const Tensor& parameter : parameters) {
    const Tensor values = parameter.detach().to(kDouble);
    got[0] += values.sum().template item<double>();
    got[1] += values.pow(2).sum().template item<double>();
  }
  for (const Tensor& parameter : {parameters.front(), parameters[parameters.size() - 2]})
    for (const double value : golden::ends(parameter)) got.push_back(value);
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("a seed gives torchvision's first weights") {
  using namespace ebb::models;
  check("resnet18", [] { return resnet18(5); });
  check("bottlenecks", [] {
    return ResNet(ResNetOptions(5)
                      .block(ResNetBlock::bottleneck)
                      .layers({1, 2, 1, 2})
                      .groups(4)
                      .width_per_group(8)
                      .replace_stride_with_dilation({false, true, true}));
  });
  check("vgg11", [] { return vgg11(VGGOptions(10).width(8).hidden(32)); });
  check("mobilenet_v3_small", [] { return mobilenet_v3_small(6); });
  check("efficientnet_b0", [] { return efficientnet_b0(6); });
}

TEST_CASE("zero_init_residual begins with blocks that are the identity") {
  models::ResNet net = models::resnet18(models::ResNetOptions(3).zero_init_residual(true));
  auto& second = net->layer1->at<models::BasicBlockImpl>(1);
  const Tensor x = rand({2, 64, 4, 4});
  CHECK(equal(second.forward(x), x));
  models::Bottleneck block(models::ResidualBlockOptions(8, 2));
  CHECK_FALSE(block->downsample);
  CHECK(models::Bottleneck(models::ResidualBlockOptions(8, 4))->downsample);
}
