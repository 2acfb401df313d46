// A generative adversarial network (GAN; Goodfellow et al. 2014; Radford et al. 2016) that generates images.
//
// Trained on Fashion-MNIST, 60,000 grey images of clothes, for 6 epochs; without it on 1,797 handwritten
// digits. Expected on Fashion-MNIST: an inception score of at least 0.65 times the score of real images (0.75
// was reached), in 4 min on two cores. The short form takes 16 s.
//
// The generator creates images from random codes. The discriminator tells generated images from real ones,
// and each network is trained against the other. A third network, the judge, is a classifier of real images.
// Its score is high if each generated image clearly belongs to a class, and if all classes occur.
#include <ebb/watch.h>

#include "common/images.h"
#include "common/program.h"

#include <fmt/format.h>

namespace nn = ebb::nn;
namespace watch = ebb::watch;

namespace {

using ebb::Tensor;

// The two networks of a small DCGAN (Radford et al. 2016).

// Initialises the weights of a network with N(0, 0.02^2), as in DCGAN.
nn::Sequential initialized(nn::Sequential network) {
  ebb::NoGradGuard no_grad;
  for (auto& parameter : network->named_parameters())
    if (parameter.value().dim() > 1) parameter.value().normal_(0, 0.02);
  return network;
}

// Returns the generator: random codes [n, code] -> images [n, 1, rows, columns] with values in [-1, 1].
nn::Sequential make_generator(std::int64_t rows, std::int64_t columns, std::int64_t code,
                              std::int64_t width) {
  const std::vector<std::int64_t> inner = {2 * width, rows / 4, columns / 4};
  return initialized(nn::Sequential(
      nn::Linear(nn::LinearOptions(code, inner[0] * inner[1] * inner[2]).bias(false)),
      nn::Unflatten(1, inner), nn::BatchNorm2d(2 * width), nn::ReLU(),
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2 * width, width, 4).stride(2).padding(1).bias(false)),
      nn::BatchNorm2d(width), nn::ReLU(),
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(width, 1, 4).stride(2).padding(1)), nn::Tanh()));
}

// Returns the discriminator: images [n, 1, rows, columns] -> logits [n] of the probability that each image is
// real.
nn::Sequential make_discriminator(std::int64_t rows, std::int64_t columns, std::int64_t width) {
  const auto leaky = nn::LeakyReLUOptions().negative_slope(0.2);
  return initialized(nn::Sequential(
      nn::Conv2d(nn::Conv2dOptions(1, width, 4).stride(2).padding(1)), nn::LeakyReLU(leaky),
      nn::Conv2d(nn::Conv2dOptions(width, 2 * width, 4).stride(2).padding(1).bias(false)),
      nn::BatchNorm2d(2 * width), nn::LeakyReLU(leaky), nn::Flatten(),
      nn::Linear(2 * width * (rows / 4) * (columns / 4), 1), nn::Flatten(nn::FlattenOptions().start_dim(0))));
}

// A classifier, trained on real images and their labels.
class Judge {
 public:
  Judge(const example::Images& images, std::int64_t epochs, ebb::Device device);

  /// Returns the class probabilities [n, classes] of images with values in [0, 1].
  ebb::Tensor probabilities(const ebb::Tensor& images);
  /// Returns the inception score (Salimans et al. 2016), exp(mean KL(p(class | image) || p(class))). The
  /// maximum is the number of classes: the judge is certain about every image, and all classes are equally
  /// frequent. The minimum is 1: all images have the same class probabilities.
  double score(const ebb::Tensor& images);
  /// Returns the fraction of images that the judge classifies correctly.
  double accuracy(const ebb::Tensor& images, const ebb::Tensor& labels);

 private:
  ebb::nn::Sequential layers_;
};

Judge::Judge(const example::Images& images, std::int64_t epochs, ebb::Device device) {
  const std::int64_t inner = 32 * (images.rows() / 4) * (images.columns() / 4);
  const std::int64_t classes = images.train_labels.max().item<std::int64_t>() + 1;
  layers_ = nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                           nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                           nn::Flatten(), nn::Dropout(0.3), nn::Linear(inner, classes));
  layers_->to(device);
  const ebb::Tensor train = images.train.to(device), labels = images.train_labels.to(device);
  ebb::optim::Adam optimizer(layers_->parameters(), ebb::optim::AdamOptions(3e-3));
  watch::Progress bar("the judge", {epochs * train.size(0), "images"});
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const ebb::Tensor& rows : ebb::randperm(train.size(0)).to(device).split(64)) {
      const ebb::Tensor loss =
          nn::functional::cross_entropy(layers_(train.index_select(0, rows)), labels.index_select(0, rows));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      bar.average("loss", loss).advance(rows.size(0));
    }
  layers_->eval();
}

ebb::Tensor Judge::probabilities(const ebb::Tensor& images) {
  ebb::NoGradGuard no_grad;
  return layers_(images).softmax(1);
}

double Judge::score(const ebb::Tensor& images) {
  const ebb::Tensor p = probabilities(images).clamp_min(1e-12);
  return (p * (p.log() - p.mean(0).log())).sum(1).mean().exp().item<double>();
}

double Judge::accuracy(const ebb::Tensor& images, const ebb::Tensor& labels) {
  const ebb::Tensor p = probabilities(images);
  watch::Classification result(p.size(1));
  result.update(p, labels.to(images.device()));
  return result.accuracy();
}

struct Options {
  std::string data;
  std::int64_t epochs = 0, code = 32, width = 32, batch = 64;
  double lr = 0;
};

// Returns the mean cross entropy of the discriminator's logits against one target: 1 for real, 0 for
// generated.
Tensor cross_entropy(const Tensor& logits, double target) {
  return nn::functional::binary_cross_entropy_with_logits(logits, ebb::full_like(logits, target));
}

void step(ebb::optim::Optimizer& optimizer, const Tensor& loss) {
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
}

int run(const example::Settings& settings, Options options) {
  const example::Images images = example::load_images(options.data, settings.brief);
  const bool small = images.rows() < 20;
  if (!options.epochs) options.epochs = small ? 50 : 6;
  if (options.lr == 0) options.lr = small ? 2e-3 : 5e-4;
  const Tensor train = images.train.to(settings.device) * 2 - 1, test = images.test.to(settings.device);
  Judge judge(images, small ? 30 : 2, settings.device);
  const double real_score = judge.score(test);
  fmt::print("The judge classifies {:.3f} of the real test images correctly; their score is {:.2f}.\n",
             judge.accuracy(test, images.test_labels), real_score);

  nn::Sequential generator = make_generator(images.rows(), images.columns(), options.code, options.width);
  nn::Sequential discriminator = make_discriminator(images.rows(), images.columns(), options.width);
  generator->to(settings.device);
  discriminator->to(settings.device);
  const auto adam = ebb::optim::AdamOptions(options.lr).betas({0.5, 0.999});
  ebb::optim::Adam generator_optimizer(generator->parameters(), adam),
      discriminator_optimizer(discriminator->parameters(), adam);

  // The weights of the generator oscillate, so their running average generates better images.
  ebb::optim::swa_utils::AveragedModel average(generator, ebb::optim::swa_utils::get_ema_multi_avg_fn(0.99),
                                               /*use_buffers=*/true);
  average.eval();
  const auto codes = [&](std::int64_t n) { return ebb::randn({n, options.code}).to(settings.device); };
  const auto generate = [&](std::int64_t n) {
    ebb::NoGradGuard no_grad;
    return average.forward(codes(n)) * 0.5 + 0.5;
  };

  std::vector<double> scores = {judge.score(generate(1000))};  // before the training
  for (std::int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    auto bar = watch::progress(ebb::randperm(train.size(0)).to(settings.device).split(options.batch),
                               fmt::format("epoch {:2}/{}", epoch, options.epochs));
    for (const Tensor& rows : bar) {
      const Tensor real = train.index_select(0, rows), generated = generator(codes(rows.size(0)));
      // The target 0.9 for real images is label smoothing (Salimans et al. 2016). detach() prevents gradients
      // of the generator.
      step(discriminator_optimizer,
           cross_entropy(discriminator(real), 0.9) + cross_entropy(discriminator(generated.detach()), 0));
      // The generator is trained to make the discriminator classify its images as real.
      const Tensor loss = cross_entropy(discriminator(generated), 1);
      step(generator_optimizer, loss);
      average.update_parameters(*generator);
      bar.average("loss", loss);
      settings.report().add_scalar("loss of the generator", loss);
    }
    scores.push_back(judge.score(generate(1000)));
    bar.finish(fmt::format("score {:.2f}", scores.back()));
  }
  settings.draw("gan.svg", watch::Figure("Inception score of generated images", "epoch", "inception score")
                               .line("generated", scores)
                               .line("real", std::vector<double>(scores.size(), real_score)));

  const Tensor generated = generate(2000);
  const Tensor frequency = judge.probabilities(generated).mean(0);
  fmt::print(
      "\namong generated images class {} is the most frequent ({:.0f} %), and class {} the least frequent "
      "({:.0f} %)\n",
      frequency.argmax().item<std::int64_t>(), 100 * frequency.max().item<double>(),
      frequency.argmin().item<std::int64_t>(), 100 * frequency.min().item<double>());
  settings.draw("gan.png", watch::Figure::image_grid("", generated.slice(0, 0, 60), 10));
  return example::at_least("score of generated / real images", judge.score(generated) / real_score,
                           small ? 0.7 : 0.65);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Trains a generative adversarial network and scores its images.");
  Options options;
  program.option("--data", options.data,
                 "folder of images in MNIST's format (default: Fashion-MNIST, or digits)");
  program.option("--epochs", options.epochs, "passes over the images (default: 6; for digits 50)");
  program.option("--code", options.code, "dimensions of a random code");
  program.option("--width", options.width,
                 "channels of the layers next to the images; the inner ones have twice as many");
  program.option("--batch", options.batch, "real images a step, and as many generated ones");
  program.option("--lr", options.lr, "Adam's learning rate (default: 0.0005; for digits 0.002)");
  return program.run(argc, argv, [&](const example::Settings& settings) { return run(settings, options); });
}
