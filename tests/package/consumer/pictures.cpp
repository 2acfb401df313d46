// A program that uses the components models and vision.
#include <ebb/models.h>
#include <ebb/vision.h>

#include <cstdio>

int main() {
  ebb::NoGradGuard no_grad;
  const ebb::Tensor picture = ebb::full({3, 40, 48}, 128, ebb::kByte);
  const ebb::Tensor again = ebb::vision::decode_image(ebb::vision::encode_png(picture));
  ebb::models::ResNet net = ebb::models::resnet18(ebb::models::ResNetOptions(7));
  net->eval();
  const ebb::Tensor logits = net(again.to(ebb::kFloat).div(255).unsqueeze(0));
  const bool right = again.equal(picture) && logits.sizes() == ebb::IntArrayRef({1, 7});
  std::puts(right ? "pictures: right" : "pictures: WRONG");
  return right ? 0 : 1;
}
