// An autoencoder that takes noise off images (Vincent et al. 2008), against principal components.
//
// Both squeeze a noisy image into a code of a few numbers and make an image of it again. Principal components
// are the best that a linear map can do with the images of training; the network is not bound to lines.
#include <ebb/ebb.h>

#include "common/grid.h"
#include "common/images.h"
#include "common/program.h"
#include "common/progress.h"

#include <fmt/format.h>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;

struct Options {
  std::string data;
  std::int64_t code = 0, epochs = 0, batch = 64;
  double lr = 2e-3, noise = 0.3;
};

// Two convolutions halve the image twice, a linear layer makes the code; the decoder is its mirror image.
struct AutoencoderImpl : nn::Module {
  AutoencoderImpl(std::int64_t rows, std::int64_t columns, std::int64_t code) {
    const std::int64_t inner = 64 * (rows / 4) * (columns / 4);
    encoder = register_module(
        "encoder", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).stride(2).padding(1)), nn::ReLU(),
                                  nn::Conv2d(nn::Conv2dOptions(32, 64, 3).stride(2).padding(1)), nn::ReLU(),
                                  nn::Flatten(), nn::Linear(inner, code)));
    decoder = register_module(
        "decoder",
        nn::Sequential(
            nn::Linear(code, inner), nn::ReLU(), nn::Unflatten(1, std::vector{64L, rows / 4, columns / 4}),
            nn::ConvTranspose2d(nn::ConvTranspose2dOptions(64, 32, 4).stride(2).padding(1)), nn::ReLU(),
            nn::ConvTranspose2d(nn::ConvTranspose2dOptions(32, 1, 4).stride(2).padding(1)), nn::Sigmoid()));
  }
  Tensor forward(const Tensor& images) { return decoder(encoder(images)); }

  nn::Sequential encoder{nullptr}, decoder{nullptr};
};
EBB_MODULE(Autoencoder);

// Principal components: images are points, and the code says where the nearest point lies in the plane of
// `code` dimensions that is closest to all of them.
struct Components {
  Components(const Tensor& images, std::int64_t code) : mean(images.flatten(1).mean(0)) {
    const Tensor centred = images.flatten(1) - mean;
    // The right singular vectors of the images are those of their covariance, which is smaller.
    const auto [u, s, vh] = ebb::linalg::svd(centred.t().matmul(centred) / images.size(0));
    directions = vh.slice(0, 0, code);
  }
  Tensor operator()(const Tensor& images) const {
    const Tensor codes = (images.flatten(1) - mean).matmul(directions.t());
    return (codes.matmul(directions) + mean).clamp(0, 1).view_as(images);
  }
  Tensor mean, directions;
};

Tensor with_noise(const Tensor& images, double noise) {
  return (images + noise * ebb::randn_like(images)).clamp(0, 1);
}

double error(const Tensor& images, const Tensor& truth) {
  return nn::functional::mse_loss(images, truth).item<double>();
}

int run(const example::Settings& settings, Options options) {
  const example::Images images = example::load_images(options.data, settings.brief);
  const bool small = images.rows() < 20;
  if (!options.code) options.code = small ? 8 : 16;
  if (!options.epochs) options.epochs = small ? 60 : 4;
  const Tensor train = images.train.to(settings.device), test = images.test.to(settings.device);

  Autoencoder network(images.rows(), images.columns(), options.code);
  network->to(settings.device);
  ebb::optim::Adam optimizer(network->parameters(), ebb::optim::AdamOptions(options.lr));
  for (std::int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    example::Progress progress(fmt::format("epoch {:2}/{}", epoch, options.epochs), train.size(0));
    for (const Tensor& rows : ebb::randperm(train.size(0)).to(settings.device).split(options.batch)) {
      const Tensor clean = train.index_select(0, rows);
      const Tensor loss = nn::functional::mse_loss(network(with_noise(clean, options.noise)), clean);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      progress.advance(rows.size(0), loss.item<double>());
    }
    progress.finish("");
  }

  ebb::NoGradGuard no_grad;
  const Components components(train, options.code);
  const Tensor noisy = with_noise(test, options.noise);
  const Tensor by_components = components(noisy), by_network = network(noisy);
  const double linear = error(by_components, test), learnt = error(by_network, test);
  fmt::print("\nmean squared error of test images, codes of {} numbers\n", options.code);
  fmt::print("{:32} {:7.4f}\n", "as noisy as they came", error(noisy, test));
  fmt::print("{:32} {:7.4f}\n", "principal components", linear);
  fmt::print("{:32} {:7.4f}\n", "autoencoder", learnt);
  fmt::print("{:32} {:7.4f}\n", "principal components, no noise", error(components(test), test));
  fmt::print("{:32} {:7.4f}\n\n", "autoencoder, no noise", error(network(test), test));

  // Rows: as they are, noisy, by components, by the network.
  std::vector<Tensor> rows;
  for (const Tensor& each : {test, noisy, by_components, by_network}) rows.push_back(each.slice(0, 0, 12));
  example::save_grid(ebb::cat(rows), 12, settings.path("autoencoder.png"));
  return example::at_most("error, as a part of that of principal components", learnt / linear,
                          small ? 0.75 : 0.6);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program(
      "A convolutional autoencoder that takes noise off images, against principal components.");
  Options options;
  program.option("--data", options.data,
                 "folder of images in MNIST's format (default: Fashion-MNIST, or digits)");
  program.option("--code", options.code, "numbers an image is squeezed into (default: 16; for digits 8)");
  program.option("--epochs", options.epochs, "passes over the images (default: 4; for digits 60)");
  program.option("--batch", options.batch, "images a step");
  program.option("--lr", options.lr, "Adam's learning rate");
  program.option("--noise", options.noise, "standard deviation of what is added to pixels of 0 to 1",
                 example::Least::kZero);
  return program.run(argc, argv, [&](const example::Settings& settings) { return run(settings, options); });
}
