// A generative adversarial network (GAN; Goodfellow et al. 2014; Radford et al. 2016) that generates images.
//
// Trained on Fashion-MNIST, 60,000 grey images of clothes, for 6 epochs; without it on 1,797 handwritten
// digits. Expected on Fashion-MNIST: an inception score of at least 0.65 of that of real images (0.75 was
// reached), in 4 min on two cores. The short form takes 16 s.
//
// The generator creates images from random codes. The discriminator tells them from real ones, and each is
// trained against the other. A third network, the judge, is a classifier of real images. Its score is high if
// each generated image clearly belongs to a class, and if all classes occur.
#include "common/chart.h"
#include "common/grid.h"
#include "common/images.h"
#include "common/program.h"
#include "common/progress.h"
#include "judge.h"
#include "networks.h"

#include <fmt/format.h>

namespace {

using ebb::Tensor;

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
    example::Progress progress(fmt::format("epoch {:2}/{}", epoch, options.epochs), train.size(0));
    for (const Tensor& rows : ebb::randperm(train.size(0)).to(settings.device).split(options.batch)) {
      const Tensor real = train.index_select(0, rows), generated = generator(codes(rows.size(0)));
      // The target 0.9 for real images is label smoothing (Salimans et al. 2016). detach() keeps the gradient
      // from the generator.
      step(discriminator_optimizer,
           cross_entropy(discriminator(real), 0.9) + cross_entropy(discriminator(generated.detach()), 0));
      // The generator is trained to make the discriminator classify its images as real.
      const Tensor loss = cross_entropy(discriminator(generated), 1);
      step(generator_optimizer, loss);
      average.update_parameters(*generator);
      progress.advance(rows.size(0), loss.item<double>());
    }
    scores.push_back(judge.score(generate(1000)));
    progress.finish(fmt::format("score {:.2f}", scores.back()));
  }
  example::Chart("Inception score of generated images", "epoch", "inception score")
      .line("generated", scores)
      .line("real", std::vector<double>(scores.size(), real_score))
      .write(settings.path("gan.svg"));

  const Tensor generated = generate(2000);
  const Tensor frequency = judge.probabilities(generated).mean(0);
  fmt::print(
      "\namong generated images class {} is the most frequent ({:.0f} %), and class {} the least frequent "
      "({:.0f} %)\n",
      frequency.argmax().item<std::int64_t>(), 100 * frequency.max().item<double>(),
      frequency.argmin().item<std::int64_t>(), 100 * frequency.min().item<double>());
  example::save_grid(generated.slice(0, 0, 60), 10, settings.path("gan.png"));
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
