// The generator's training step of a GAN (DCGAN) on images of 3 x 32 x 32, and its generator alone.
#include "bench.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kNoise = 100;

nn::ConvTranspose2d up(int64_t in, int64_t out, int64_t stride = 2) {
  return nn::ConvTranspose2d(
      nn::ConvTranspose2dOptions(in, out, 4).stride(stride).padding(stride / 2).bias(false));
}
nn::Conv2d down(int64_t in, int64_t out, int64_t stride = 2) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 4).stride(stride).padding(stride / 2).bias(false));
}
nn::LeakyReLU leaky() { return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)); }

nn::Sequential make_generator() {
  return nn::Sequential(up(kNoise, 256, 1), nn::BatchNorm2d(256), nn::ReLU(),  //
                        up(256, 128), nn::BatchNorm2d(128), nn::ReLU(),        //
                        up(128, 64), nn::BatchNorm2d(64), nn::ReLU(),          //
                        up(64, 3), nn::Tanh());
}
nn::Sequential make_discriminator() {
  return nn::Sequential(down(3, 64), leaky(), down(64, 128), nn::BatchNorm2d(128), leaky(), down(128, 256),
                        nn::BatchNorm2d(256), leaky(), down(256, 1, 1), nn::Flatten());
}

// The operations of a forward pass on an image: kernels of 4 x 4 at the positions of the smaller side.
constexpr double kGenerator = 2.0 * 16 * (kNoise * 256 + 16 * 256 * 128 + 64 * 128 * 64 + 256 * 64 * 3);
constexpr double kDiscriminator = 2.0 * 16 * (256 * 3 * 64 + 64 * 64 * 128 + 16 * 128 * 256 + 256);

Tensor noise(int64_t batch) { return torch::randn({batch, kNoise, 1, 1}); }

// As in PyTorch's example, the discriminator gets gradients too, which its own step would discard.
void train(benchmark::State& state, int64_t batch) {
  torch::manual_seed(1);
  nn::Sequential generator = make_generator(), discriminator = make_discriminator();
  torch::optim::Adam optimizer(generator->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.999}));
  const Tensor seeds = noise(batch), real = torch::ones({batch, 1});
  bench::measure(
      state, 1, "ms/step",
      [&] {
        optimizer.zero_grad();
        discriminator->zero_grad();
        const Tensor scores = discriminator->forward(generator->forward(seeds));
        F::binary_cross_entropy_with_logits(scores, real).backward();
        optimizer.step();
      },
      bench::flops(3 * static_cast<double>(batch) * (kGenerator + kDiscriminator)));
}

void generate(benchmark::State& state) {
  torch::manual_seed(1);
  nn::Sequential generator = make_generator();
  generator->eval();
  const Tensor seeds = noise(64);
  const torch::NoGradGuard no_grad;
  bench::measure(state, 1, "ms", [&] { generator->forward(seeds); }, bench::flops(64 * kGenerator));
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t batch : {8, 64})
    bench::add("gan.generator.train." + std::to_string(batch),
               [=](benchmark::State& state) { train(state, batch); });
  bench::add("gan.generator.forward.64", generate);
  return bench::run(argc, argv);
}
