// Models of images give what torchvision's give with the same weights.
#include <ebb/models.h>

#include "fill.h"
#include "golden.h"
#include "support/catch.h"

using namespace ebb;
using golden::close;
using golden::ends;

namespace {

// In float, evaluation; in double, evaluation, training, gradients, and the statistics that training leaves.
template <class Net>
void check(const std::string& name, Net net, IntArrayRef shape) {
  INFO(name);
  const golden::Case wanted = golden::read_case(name);
  golden::fill(*net);
  const Tensor images = golden::noise(1000001, shape);
  net->eval();
  {
    const NoGradGuard no_grad;
    CHECK(close(ends(net(images.to(kFloat))), wanted.eval, 1e-4));
  }
  net->to(kDouble);
  golden::fill(*net);
  {
    const NoGradGuard no_grad;
    CHECK(close(ends(net(images)), wanted.eval, 1e-10));
  }
  net->train();
  images.set_requires_grad(true);
  const Tensor out = net(images);
  CHECK(close(ends(out), wanted.train, 1e-10));
  (out * golden::noise(1000003, out.sizes())).sum().backward();

  const auto parameters = net->named_parameters();
  for (const auto& [parameter, numbers] : wanted.grads) {
    INFO(parameter);
    CHECK(close(ends(parameter == "images" ? images.grad() : parameters[parameter].grad()), numbers, 1e-8));
  }
  const auto buffers = net->named_buffers();
  for (const auto& [buffer, numbers] : wanted.buffers) {
    INFO(buffer);
    CHECK(close(ends(buffers[buffer]), numbers, 1e-10));
  }
}

}  // namespace

TEST_CASE("LeNet-5 gives PyTorch's numbers") { check("lenet5", models::LeNet5(), {2, 1, 28, 28}); }

TEST_CASE("VGG gives torchvision's numbers") {
  const auto narrow = models::VGGOptions(10).width(8).hidden(32).dropout(0);
  check("vgg11", models::vgg11(narrow), {2, 3, 32, 32});
  check("vgg16_bn", models::vgg16_bn(narrow), {4, 3, 32, 40});
}

TEST_CASE("ResNet gives torchvision's numbers") {
  check("resnet18", models::resnet18(5), {2, 3, 64, 64});
  check("resnet50", models::resnet50(5), {2, 3, 64, 64});
  const auto options = models::ResNetOptions(5)
                           .block(models::ResNetBlock::bottleneck)
                           .layers({1, 2, 1, 2})
                           .groups(4)
                           .width_per_group(8)
                           .replace_stride_with_dilation({false, true, true});
  check("bottlenecks", models::ResNet(options), {2, 3, 40, 48});
}

TEST_CASE("MobileNetV3 gives torchvision's numbers") {
  const auto options = models::MobileNetV3Options(6).dropout(0);
  check("mobilenet_v3_large", models::mobilenet_v3_large(options), {4, 3, 64, 64});
  check("mobilenet_v3_small", models::mobilenet_v3_small(options), {4, 3, 64, 64});
  auto dilated = options;
  dilated.width_mult(0.5).reduced_tail(true).dilated(true);
  check("mobilenet_v3_dilated", models::mobilenet_v3_large(dilated), {4, 3, 48, 48});
}

TEST_CASE("EfficientNet gives torchvision's numbers") {
  const auto options = models::EfficientNetOptions(6).dropout(0).stochastic_depth_prob(0);
  check("efficientnet_b0", models::efficientnet_b0(options), {4, 3, 64, 64});
}

TEST_CASE("U-Net gives the numbers of one in PyTorch") {
  check("unet", models::UNet(models::UNetOptions(3, 2).width(4)), {2, 3, 36, 42});
  check("unet_bilinear", models::UNet(models::UNetOptions(1, 2).width(4).bilinear(true)), {2, 1, 36, 42});
}
