// A generative adversarial network: detach, two optimizers, weight initialization with apply.
#include "fidelity.h"

namespace tutorial_gan {

namespace nn = torch::nn;

struct GeneratorImpl : nn::Module {
  explicit GeneratorImpl(int noise)
      : fc1(nn::LinearOptions(noise, 8).bias(false)),  // before a norm, the bias gradient is rounding noise
        norm(nn::BatchNorm1dOptions(8).momentum(0.2)),
        fc2(nn::LinearOptions(8, 4).bias(false)) {
    register_module("fc1", fc1);
    register_module("norm", norm);
    register_module("fc2", fc2);
  }
  Tensor forward(Tensor x) { return torch::tanh(fc2(torch::relu(norm(fc1(x))))); }
  nn::Linear fc1;
  nn::BatchNorm1d norm;
  nn::Linear fc2;
};
TORCH_MODULE(Generator);

void init_weights(nn::Module& module) {
  torch::NoGradGuard guard;
  if (auto* linear = module.as<nn::Linear>()) {
    nn::init::normal_(linear->weight, 0.0, 0.2);
    if (linear->bias.defined()) nn::init::constant_(linear->bias, 0.01);
  } else if (auto* norm = module.as<nn::BatchNorm1d>()) {
    nn::init::ones_(norm->weight);
    nn::init::zeros_(norm->bias);
  }
}

void run() {
  section("gan", [] {
    torch::manual_seed(11);
    Generator generator(3);
    nn::Sequential discriminator(nn::Linear(4, 8), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                                 nn::Linear(8, 1), nn::Sigmoid());
    generator->apply(init_weights);
    discriminator->apply(init_weights);
    torch::optim::Adam g_optimizer(generator->parameters(),
                                   torch::optim::AdamOptions(2e-2).betas(std::make_tuple(0.5, 0.5)));
    torch::optim::Adam d_optimizer(discriminator->parameters(),
                                   torch::optim::AdamOptions(1e-2).betas(std::make_tuple(0.5, 0.5)));
    for (int step = 0; step < 10; ++step) {
      discriminator->zero_grad();
      Tensor real = ramp({8, 4}, 0.2, 0.8, 0.1 * step).to(torch::kFloat32);
      Tensor real_labels = torch::empty(8).uniform_(0.8, 1.0);
      Tensor d_loss_real = torch::binary_cross_entropy(discriminator->forward(real).view(-1), real_labels);
      d_loss_real.backward();
      Tensor noise = torch::randn({8, 3});
      Tensor fake = generator->forward(noise);
      Tensor d_loss_fake =
          torch::binary_cross_entropy(discriminator->forward(fake.detach()).view(-1), torch::zeros(8));
      d_loss_fake.backward();
      Tensor d_loss = d_loss_real + d_loss_fake;
      d_optimizer.step();
      generator->zero_grad();
      Tensor g_loss = torch::binary_cross_entropy(discriminator->forward(fake).view({8}), torch::ones({8}));
      g_loss.backward();
      g_optimizer.step();
      if (step % 3 == 0) {
        report("d_loss" + std::to_string(step), d_loss);
        report("g_loss" + std::to_string(step), g_loss);
      }
    }
    generator->eval();
    torch::NoGradGuard guard;
    report("sample", generator->forward(torch::ones({2, 3})));
  });
}

const Program program("tutorial_gan", run);

}  // namespace tutorial_gan
