// VisionTransformer: results and names of torchvision, files, copies, errors.
#include <ebb/models.h>

#include "support/catch.h"
#include "waves.h"

#include <sstream>

using namespace ebb;
using namespace ebb::models;
using support::Contains;

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
