// States have torchvision's names, shapes and order.
#include <ebb/models.h>

#include "golden.h"
#include "support/catch.h"

using namespace ebb;

namespace {

// FNV-1a over lines "name 64x3x7x7".
std::uint64_t hash_of(const nn::Module::StateDict& state) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const auto& item : state) {
    std::string line = item.key() + " ";
    for (std::int64_t i = 0; i < item.value().dim(); ++i)
      line += (i ? "x" : "") + std::to_string(item.value().size(i));
    for (const char c : line + "\n") hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  return hash;
}

template <class Net>
void check(const std::string& name, const Net& net) {
  INFO(name);
  auto line = golden::read_line("keys", name);
  std::size_t count = 0;
  std::uint64_t hash = 0;
  line >> count >> std::hex >> hash;
  const auto state = net->state_dict();
  CHECK(state.size() == count);
  CHECK(hash_of(state) == hash);
}

}  // namespace

TEST_CASE("states of models have torchvision's names and shapes") {
  using namespace ebb::models;
  const nn::utils::SkipInitGuard no_values;
  check("vgg11", vgg11());
  check("vgg11_bn", vgg11_bn());
  check("vgg13", vgg13());
  check("vgg13_bn", vgg13_bn());
  check("vgg16", vgg16());
  check("vgg16_bn", vgg16_bn());
  check("vgg19", vgg19());
  check("vgg19_bn", vgg19_bn());
  check("resnet18", resnet18());
  check("resnet34", resnet34());
  check("resnet50", resnet50());
  check("resnet101", resnet101());
  check("resnet152", resnet152());
  check("resnext50_32x4d", resnext50_32x4d());
  check("resnext101_32x8d", resnext101_32x8d());
  check("resnext101_64x4d", resnext101_64x4d());
  check("wide_resnet50_2", wide_resnet50_2());
  check("wide_resnet101_2", wide_resnet101_2());
  check("mobilenet_v3_large", mobilenet_v3_large());
  check("mobilenet_v3_small", mobilenet_v3_small());
  check("efficientnet_b0", efficientnet_b0());
  check("efficientnet_b3", EfficientNet(EfficientNetOptions().width_mult(1.2).depth_mult(1.4)));
  check("lenet5", LeNet5());
  check("unet", UNet(3, 2));
  check("unet_bilinear", UNet(UNetOptions(3, 2).bilinear(true)));
}

TEST_CASE("defaults are those of the usual functions") {
  using namespace ebb::models;
  CHECK(VGGOptions().convolutions() == VGGOptions::Counts{2, 2, 3, 3, 3});
  CHECK(ResNetOptions().layers() == ResNetOptions::Counts{2, 2, 2, 2});
  CHECK(MobileNetV3Options().size() == MobileNetV3Size::large);
}
