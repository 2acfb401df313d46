// Vision models: names, shapes, initial weights and results of torchvision; VisionTransformer: files, copies,
// errors.
#include <ebb/models.h>

#include "golden.h"
#include "support/catch.h"
#include "waves.h"

#include <sstream>

// Vision models give the results of torchvision for the same weights.

using namespace ebb;
using namespace ebb::models;
using golden::close;
using golden::ends;
using support::Contains;

namespace {

// Compares evaluation in float; and evaluation, training, gradients and running statistics in double.
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

TEST_CASE("LeNet-5 gives the results of PyTorch") { check("lenet5", models::LeNet5(), {2, 1, 28, 28}); }

TEST_CASE("VGG gives the results of torchvision") {
  const auto narrow = models::VGGOptions(10).width(8).hidden(32).dropout(0);
  check("vgg11", models::vgg11(narrow), {2, 3, 32, 32});
  check("vgg16_bn", models::vgg16_bn(narrow), {4, 3, 32, 40});
}

TEST_CASE("ResNet gives the results of torchvision") {
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

TEST_CASE("MobileNetV3 gives the results of torchvision") {
  const auto options = models::MobileNetV3Options(6).dropout(0);
  check("mobilenet_v3_large", models::mobilenet_v3_large(options), {4, 3, 64, 64});
  check("mobilenet_v3_small", models::mobilenet_v3_small(options), {4, 3, 64, 64});
  auto dilated = options;
  dilated.width_mult(0.5).reduced_tail(true).dilated(true);
  check("mobilenet_v3_dilated", models::mobilenet_v3_large(dilated), {4, 3, 48, 48});
}

TEST_CASE("EfficientNet gives the results of torchvision") {
  const auto options = models::EfficientNetOptions(6).dropout(0).stochastic_depth_prob(0);
  check("efficientnet_b0", models::efficientnet_b0(options), {4, 3, 64, 64});
}

TEST_CASE("U-Net gives the results of the same network in PyTorch") {
  check("unet", models::UNet(models::UNetOptions(3, 2).width(4)), {2, 3, 36, 42});
  check("unet_bilinear", models::UNet(models::UNetOptions(1, 2).width(4).bilinear(true)), {2, 1, 36, 42});
}

// State dicts have the names, shapes and order of torchvision.

namespace {

// FNV-1a of lines such as "name 64x3x7x7".
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
void check_names(const std::string& name, const Net& net) {
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

TEST_CASE("state_dicts of models have the names and shapes of torchvision") {
  const nn::utils::SkipInitGuard no_values;
  check_names("vgg11", vgg11());
  check_names("vgg11_bn", vgg11_bn());
  check_names("vgg13", vgg13());
  check_names("vgg13_bn", vgg13_bn());
  check_names("vgg16", vgg16());
  check_names("vgg16_bn", vgg16_bn());
  check_names("vgg19", vgg19());
  check_names("vgg19_bn", vgg19_bn());
  check_names("resnet18", resnet18());
  check_names("resnet34", resnet34());
  check_names("resnet50", resnet50());
  check_names("resnet101", resnet101());
  check_names("resnet152", resnet152());
  check_names("resnext50_32x4d", resnext50_32x4d());
  check_names("resnext101_32x8d", resnext101_32x8d());
  check_names("resnext101_64x4d", resnext101_64x4d());
  check_names("wide_resnet50_2", wide_resnet50_2());
  check_names("wide_resnet101_2", wide_resnet101_2());
  check_names("mobilenet_v3_large", mobilenet_v3_large());
  check_names("mobilenet_v3_small", mobilenet_v3_small());
  check_names("efficientnet_b0", efficientnet_b0());
  check_names("efficientnet_b3", EfficientNet(EfficientNetOptions().width_mult(1.2).depth_mult(1.4)));
  check_names("lenet5", LeNet5());
  check_names("unet", UNet(3, 2));
  check_names("unet_bilinear", UNet(UNetOptions(3, 2).bilinear(true)));
}

TEST_CASE("the default options of VGG, ResNet and MobileNetV3 are those of torchvision") {
  CHECK(VGGOptions().convolutions() == VGGOptions::Counts{2, 2, 3, 3, 3});
  CHECK(ResNetOptions().layers() == ResNetOptions::Counts{2, 2, 2, 2});
  CHECK(MobileNetV3Options().size() == MobileNetV3Size::large);
}

// The same seed gives the initial weights of torchvision.

namespace {

template <class Make>
void check_first_weights(const std::string& name, Make make) {
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

TEST_CASE("with the same seed, a model has the initial weights of torchvision") {
  check_first_weights("resnet18", [] { return resnet18(5); });
  check_first_weights("bottlenecks", [] {
    return ResNet(ResNetOptions(5)
                      .block(ResNetBlock::bottleneck)
                      .layers({1, 2, 1, 2})
                      .groups(4)
                      .width_per_group(8)
                      .replace_stride_with_dilation({false, true, true}));
  });
  check_first_weights("vgg11", [] { return vgg11(VGGOptions(10).width(8).hidden(32)); });
  check_first_weights("mobilenet_v3_small", [] { return mobilenet_v3_small(6); });
  check_first_weights("efficientnet_b0", [] { return efficientnet_b0(6); });
}

TEST_CASE("zero_init_residual makes each residual block the identity") {
  models::ResNet net = models::resnet18(models::ResNetOptions(3).zero_init_residual(true));
  auto& second = net->layer1->at<models::BasicBlockImpl>(1);
  const Tensor x = rand({2, 64, 4, 4});
  CHECK(equal(second.forward(x), x));
  models::Bottleneck block(models::ResidualBlockOptions(8, 2));
  CHECK_FALSE(block->downsample);
  CHECK(models::Bottleneck(models::ResidualBlockOptions(8, 4))->downsample);
}

namespace {

VisionTransformerOptions small() {
  return VisionTransformerOptions()
      .image_size(12)
      .patch_size(4)
      .num_layers(2)
      .num_heads(4)
      .hidden_dim(32)
      .mlp_dim(48)
      .num_classes(5);
}

}  // namespace

TEST_CASE("VisionTransformer gives the logits and gradients of torchvision") {
  waves::check(waves::prepared(VisionTransformer(small())), waves::given({2, 3, 12, 12}, 0),
               {1.01649375, -0.4641956675, 0.5775714168, 0.383489269, -1.211740491},
               {-0.2836972169, 0.07195571291, -0.1403891058,  -0.2932166126,  0.07976896573, -0.1737022157,
                -0.1703076171, 0.2349560756,  -0.06454069238, -0.1528075391,  -0.2716784792, -0.1976262389,
                0.4688218624,  -0.263501753,  -0.06118616471, -0.1606748345,  -0.0615150858, -0.02582917505,
                0.08838814715, 0.05585932137, 0.5693422068,   -0.07182035424, -0.2403084082, 0.04270536037,
                0.1358832558,  -0.1596065269, -0.04129453613, -0.03413330644, 1.806946618,   1.766415121,
                -0.8877174113, 1.506579981});
}

TEST_CASE("published vision transformers have the parameter names and shapes of torchvision") {
  const nn::utils::SkipInitGuard uninitialised;
  CHECK(waves::hash_of_names(*vit_b_16()) == 0x10126eb43cbcc97e);
  CHECK(waves::hash_of_names(*vit_b_32()) == 0xa277db954747e0ac);
  CHECK(waves::hash_of_names(*vit_l_16()) == 0xf9e8b7e2f7f7cf30);
}

TEST_CASE("the arguments of vit_b_16 are the number of classes and the image size") {
  const nn::utils::SkipInitGuard uninitialised;
  const VisionTransformer net = vit_b_16(7, 64);
  CHECK(net->encoder->pos_embedding.sizes() == IntArrayRef({1, 17, 768}));
  CHECK(net->heads->parameters()[0].sizes() == IntArrayRef({7, 768}));
}

TEST_CASE("VisionTransformer initializes its weights as torchvision does") {
  manual_seed(0);
  VisionTransformer net(small().hidden_dim(64).mlp_dim(256));
  CHECK(net->class_token.abs().max().item<float>() == 0);
  CHECK(net->encoder->pos_embedding.std().item<float>() == Approx(0.02).epsilon(0.2));
  CHECK(net->conv_proj->weight.std().item<float>() == Approx(1 / std::sqrt(48)).epsilon(0.1));
  CHECK(net->conv_proj->bias.abs().max().item<float>() == 0);
  const auto state = net->state_dict();
  const std::string mlp = "encoder.layers.encoder_layer_1.mlp.";
  CHECK(state[mlp + "0.weight"].std().item<float>() == Approx(std::sqrt(2.0 / 320)).epsilon(0.1));
  CHECK(state[mlp + "3.bias"].abs().max().item<float>() > 0);
  CHECK(state[mlp + "3.bias"].abs().max().item<float>() < 1e-5);
  CHECK(net(randn({1, 3, 12, 12})).abs().max().item<float>() == 0);
}

TEST_CASE("VisionTransformer reads files of older versions of torchvision") {
  const VisionTransformer net = waves::prepared(VisionTransformer(small()));
  nn::Module::StateDict older;
  for (const auto& item : net->state_dict()) {
    std::string name = item.key();
    for (const auto& [now, before] : {std::pair{".mlp.0.", ".mlp.linear_1."}, {".mlp.3.", ".mlp.linear_2."}})
      if (const std::size_t at = name.find(now); at != name.npos) name.replace(at, 7, before);
    older.insert(name, *item);
  }
  std::stringstream file;
  safetensors::NamedTensors tensors;
  for (const auto& item : older) tensors.emplace_back(item.key(), *item);
  safetensors::write(file, tensors);
  VisionTransformer other(small());
  other->to(kDouble);
  load(other, file, other->load_options());
  for (const auto& item : other->state_dict()) CHECK(equal(*item, net->state_dict()[item.key()]));
}

TEST_CASE("a clone of VisionTransformer gives equal results and dropout is active only in training") {
  VisionTransformer net = waves::prepared(VisionTransformer(small().dropout(0.5)));
  const Variable images = waves::given({1, 3, 12, 12}, 2);
  const auto copy = std::dynamic_pointer_cast<VisionTransformerImpl>(net->clone());
  REQUIRE(copy);
  CHECK(equal(copy->forward(images), net(images)));
  CHECK_FALSE(copy->class_token.is_alias_of(net->class_token));
  net->train();
  CHECK_FALSE(equal(copy->forward(images), net(images)));
}

TEST_CASE("VisionTransformer refuses invalid options and inputs") {
  CHECK_THROWS_WITH(VisionTransformer(small().patch_size(5)), Contains("12 and 5"));
  CHECK_THROWS_WITH(VisionTransformer(small().num_heads(5)), Contains("divisible"));
  VisionTransformer net(small());
  CHECK_THROWS_WITH(net(zeros({1, 3, 12, 16})), Contains("[B, 3, 12, 12]") && Contains("[1, 3, 12, 16]"));
  CHECK_THROWS_WITH(net(zeros({3, 12, 12})), Contains("[3, 12, 12]"));
}
