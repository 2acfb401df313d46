// A generative adversarial network (Goodfellow et al. 2014).
//
// One network makes images, another tells them from real ones, and each learns from the other. How good the
// images are is said by a third, which learnt the classes of real ones: are they images of something, and of
// every class?
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

// -log of the probability that the discriminator gives to what is so (1: real, 0: made); the mean.
Tensor surprise(const Tensor& log_odds, double what_is_so) {
  return nn::functional::binary_cross_entropy_with_logits(log_odds, ebb::full_like(log_odds, what_is_so));
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
  fmt::print("It names {:.3f} of the real test images right, and gives them a score of {:.2f}.\n",
             judge.accuracy(test, images.test_labels), real_score);

  nn::Sequential generator = make_generator(images.rows(), images.columns(), options.code, options.width);
  nn::Sequential discriminator = make_discriminator(images.rows(), images.columns(), options.width);
  generator->to(settings.device);
  discriminator->to(settings.device);
  const auto adam = ebb::optim::AdamOptions(options.lr).betas({0.5, 0.999});
  ebb::optim::Adam improve_generator(generator->parameters(), adam),
      improve_discriminator(discriminator->parameters(), adam);

  // The generator goes to and fro; the mean of where it was makes better images than where it stands.
  ebb::optim::swa_utils::AveragedModel average(generator, ebb::optim::swa_utils::get_ema_multi_avg_fn(0.99),
                                               /*use_buffers=*/true);
  average.eval();
  const auto codes = [&](std::int64_t n) { return ebb::randn({n, options.code}).to(settings.device); };
  const auto made_of = [&](const Tensor& of) {
    ebb::NoGradGuard no_grad;
    return average.forward(of) * 0.5 + 0.5;
  };

  std::vector<double> scores = {judge.score(made_of(codes(1000)))};  // of noise, so far
  for (std::int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    example::Progress progress(fmt::format("epoch {:2}/{}", epoch, options.epochs), train.size(0));
    for (const Tensor& rows : ebb::randperm(train.size(0)).to(settings.device).split(options.batch)) {
      const Tensor real = train.index_select(0, rows), made = generator(codes(rows.size(0)));
      // To be sure at 0.9 is enough (Salimans et al. 2016). No gradient reaches the generator.
      step(improve_discriminator,
           surprise(discriminator(real), 0.9) + surprise(discriminator(made.detach()), 0));
      const Tensor loss = surprise(discriminator(made), 1);
      step(improve_generator, loss);
      average.update_parameters(*generator);
      progress.advance(rows.size(0), loss.item<double>());
    }
    scores.push_back(judge.score(made_of(codes(1000))));
    progress.finish(fmt::format("score {:.2f}", scores.back()));
  }
  example::Chart("What a judge of images says", "epoch", "inception score")
      .line("generated", scores)
      .line("real", std::vector<double>(scores.size(), real_score))
      .write(settings.path("gan.svg"));

  const Tensor made = made_of(codes(2000));
  const Tensor frequency = judge.probabilities(made).mean(0);
  fmt::print(
      "\nof generated images the judge takes the most for class {} ({:.0f} %), the fewest for class {} "
      "({:.0f} %)\n",
      frequency.argmax().item<std::int64_t>(), 100 * frequency.max().item<double>(),
      frequency.argmin().item<std::int64_t>(), 100 * frequency.min().item<double>());
  example::save_grid(made.slice(0, 0, 60), 10, settings.path("gan.png"));
  return example::at_least("score, as a part of that of real images", judge.score(made) / real_score,
                           small ? 0.7 : 0.65);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("A generative adversarial network, and a judge of what it makes.");
  Options options;
  program.option("--data", options.data,
                 "folder of images in MNIST's format (default: Fashion-MNIST, or digits)");
  program.option("--epochs", options.epochs, "passes over the images (default: 6; for digits 50)");
  program.option("--code", options.code, "random numbers that an image is made of");
  program.option("--width", options.width,
                 "channels of the layers next to the images; the inner ones have twice as many");
  program.option("--batch", options.batch, "real images a step, and as many made ones");
  program.option("--lr", options.lr, "Adam's learning rate (default: 0.0005; for digits 0.002)");
  return program.run(argc, argv, [&](const example::Settings& settings) { return run(settings, options); });
}
