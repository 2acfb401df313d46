// A variational autoencoder (VAE; Kingma and Welling 2013): a network that generates images from random
// numbers.
//
// Trained on Fashion-MNIST, 60,000 grey images of clothes, for 6 epochs; without it on 1,797 handwritten
// digits. Expected on Fashion-MNIST: an ELBO at least 130 nats above the log-likelihood of independent pixels
// (144 was reached), in 70 s on two cores. The short form takes 5 s.
//
// The encoder maps an image x to a normal distribution q(z | x) of codes z. The decoder maps a code to a
// distribution p(x | z) of images. Both are trained to maximise the evidence lower bound
//     ELBO(x) = E_q[log p(x | z)] - KL(q(z | x) || N(0, 1)) <= log p(x).
// Training uses binary images, which are sampled again in each step: a pixel is white with the probability of
// its grey value. Therefore p(x) is a probability and not a density, and the ELBO is in nats (Salakhutdinov
// and Murray 2008).
#include <ebb/watch.h>

#include "common/conv_autoencoder.h"
#include "common/images.h"
#include "common/output.h"
#include "common/program.h"

#include <fmt/format.h>

#include <cmath>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;

struct Options {
  std::string data;
  std::int64_t code = 0, epochs = 0, batch = 64;
  double lr = 2e-3;
};

// q(z | x): an independent normal distribution for each element of the code. Both tensors are [n, code].
struct Posterior {
  Tensor mean, log_variance;
  // Samples codes with the reparameterisation trick: the noise does not depend on the parameters, so that the
  // gradient passes through the sample.
  Tensor draw() const { return mean + (0.5 * log_variance).exp() * ebb::randn_like(mean); }
  // Returns KL(q || N(0, 1)): [n].
  Tensor divergence() const { return 0.5 * (log_variance.exp() + mean.square() - 1 - log_variance).sum(1); }
};

struct VAEImpl : nn::Module {
  VAEImpl(std::int64_t rows, std::int64_t columns, std::int64_t code)
      : encoder(register_module("encoder", example::conv_encoder(rows, columns, 2 * code))),
        decoder(register_module("decoder", example::conv_decoder(rows, columns, code))) {}
  Posterior encode(const Tensor& images) {
    const std::vector<Tensor> halves = encoder(images).chunk(2, 1);
    return {halves[0], halves[1]};
  }
  // Returns the probability of white for each pixel: [n, 1, rows, columns].
  Tensor decode(const Tensor& codes) { return decoder(codes).sigmoid(); }
  // Returns log p(x | z): [n].
  Tensor log_likelihood(const Tensor& images, const Tensor& codes) {
    const auto each = nn::functional::BinaryCrossEntropyWithLogitsFuncOptions().reduction(ebb::kNone);
    return -nn::functional::binary_cross_entropy_with_logits(decoder(codes), images, each).flatten(1).sum(1);
  }
  // Returns the ELBO, estimated with one sample of z: [n].
  Tensor elbo(const Tensor& images) {
    const Posterior q = encode(images);
    return log_likelihood(images, q.draw()) - q.divergence();
  }
  // Returns estimates [n] of log p(x) by importance sampling: the log of the mean of p(x, z) / q(z | x) over
  // many samples of z (Burda et al. 2016).
  Tensor log_evidence(const Tensor& images, std::int64_t draws) {
    const Posterior q = encode(images);
    std::vector<Tensor> log_weights;
    for (std::int64_t i = 0; i < draws; ++i) {
      const Tensor z = q.draw(), noise = (z - q.mean) / (0.5 * q.log_variance).exp();
      const Tensor log_prior = -0.5 * z.square(), log_q = -0.5 * (noise.square() + q.log_variance);
      log_weights.push_back(log_likelihood(images, z) + (log_prior - log_q).sum(1));
    }
    return ebb::stack(log_weights).logsumexp(0) - std::log(static_cast<double>(draws));
  }

  nn::Sequential encoder, decoder;
};
EBB_MODULE(VAE);

// Returns log p(x), [n], for independent pixels. `white` contains the probability of each pixel to be white.
Tensor log_likelihood_of_pixels(const Tensor& images, const Tensor& white) {
  const Tensor p = white.clamp(1e-3, 1 - 1e-3);
  return (images * p.log() + (1 - images) * (1 - p).log()).flatten(1).sum(1);
}

// Interpolates between pairs of images. Each row of the result begins with the image in `from` and ends with
// the image in `to`. The images between them are decoded from codes on the straight line between both codes.
Tensor walks(VAE& vae, const Tensor& from, const Tensor& to, std::int64_t steps) {
  const Tensor start = vae->encode(from).mean, end = vae->encode(to).mean;
  std::vector<Tensor> columns = {from};
  for (const double part : example::numbers(ebb::linspace(0, 1, steps)))
    columns.push_back(vae->decode(ebb::lerp(start, end, part)));
  columns.push_back(to);
  return ebb::stack(columns, 1).flatten(0, 1);
}

int run(const example::Settings& settings, Options options) {
  const example::Images images = example::load_images(options.data, settings.brief);
  const bool small = images.rows() < 20;
  if (!options.code) options.code = small ? 8 : 16;
  if (!options.epochs) options.epochs = small ? 50 : 6;
  const Tensor train = images.train.to(settings.device), grey = images.test.to(settings.device);

  VAE vae(images.rows(), images.columns(), options.code);
  vae->to(settings.device);
  ebb::optim::Adam optimizer(vae->parameters(), ebb::optim::AdamOptions(options.lr));
  for (std::int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    auto bar = ebb::watch::progress(ebb::randperm(train.size(0)).to(settings.device).split(options.batch),
                                    fmt::format("epoch {:2}/{}", epoch, options.epochs));
    for (const Tensor& rows : bar) {
      const Tensor loss = -vae->elbo(train.index_select(0, rows).bernoulli()).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      bar.average("loss", loss);
      settings.report().add_scalar("loss", loss);
    }
  }

  ebb::NoGradGuard no_grad;
  const Tensor test = grey.bernoulli();
  const double elbo = vae->elbo(test).mean().item<double>();
  const double evidence = vae->log_evidence(test, 50).mean().item<double>();
  const double pixels = log_likelihood_of_pixels(test, train.mean(0, true)).mean().item<double>();
  const auto print = [](const char* what, double nats) { fmt::print("{:48} {:8.2f}\n", what, nats); };
  fmt::print("\nmeans over the test images, in nats per image\n");
  print("log p(x), independent pixels", pixels);
  print("ELBO", elbo);
  print("log p(x), estimated with 50 samples", evidence);
  print("log p(x), given the grey values", log_likelihood_of_pixels(test, grey).mean().item<double>());
  print("KL(q || N(0, 1))", vae->encode(test).divergence().mean().item<double>());

  const Tensor drawn = vae->decode(ebb::randn({64, options.code}).to(settings.device));
  settings.draw("vae_samples.png", ebb::watch::Figure::image_grid("", drawn, 8));
  const Tensor between = walks(vae, grey.slice(0, 0, 6), grey.slice(0, 6, 12), 10);
  settings.draw("vae_walks.png", ebb::watch::Figure::image_grid("", between, 12));
  return example::at_least("ELBO - log p(x) of independent pixels, nats", elbo - pixels, small ? 3 : 130) |
         example::at_most("ELBO - log p(x), nats", elbo - evidence, 0);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program(
      "Trains a variational autoencoder, generates images, and interpolates between images.");
  Options options;
  program.option("--data", options.data,
                 "folder of images in MNIST's format (default: Fashion-MNIST, or digits)");
  program.option("--code", options.code, "dimensions of a code (default: 16; for digits 8)");
  program.option("--epochs", options.epochs, "passes over the images (default: 6; for digits 50)");
  program.option("--batch", options.batch, "images a step");
  program.option("--lr", options.lr, "Adam's learning rate");
  return program.run(argc, argv, [&](const example::Settings& settings) { return run(settings, options); });
}
