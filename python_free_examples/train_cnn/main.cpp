// Trains a small CNN on real images, shows how it goes, saves the model and reads it back.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include "common/progress.h"
#include "evaluate.h"
#include "options.h"

namespace {

using ebb::data::datasets::MNIST;

std::int64_t classes_of(const MNIST& train, const MNIST& test) {
  return std::max(train.targets().max().item<std::int64_t>(), test.targets().max().item<std::int64_t>()) + 1;
}

int run(const Options& options) {
  if (options.threads) ebb::set_num_threads(options.threads);
  ebb::manual_seed(options.seed);

  Source source = find_source(options);
  const MNIST train(source.folder), test(source.folder, MNIST::Mode::kTest);
  const std::int64_t classes = classes_of(train, test), rows = train.images().size(2),
                     columns = train.images().size(3);
  for (auto i = static_cast<std::int64_t>(source.classes.size()); i < classes; ++i)
    source.classes.push_back(std::to_string(i));
  std::printf("%s: %zu training and %zu test images of %lldx%lld, %lld classes, on %s\n",
              source.title.c_str(), *train.size(), *test.size(), static_cast<long long>(rows),
              static_cast<long long>(columns), static_cast<long long>(classes), options.device.str().c_str());

  Net net(rows, columns, classes);
  net->to(options.device);
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(source.lr));
  auto loader = ebb::data::make_data_loader(
      MNIST(train).map(ebb::data::transforms::Stack<>()),
      ebb::data::DataLoaderOptions(static_cast<std::size_t>(options.batch)).workers(1));

  Confusion confusion;
  for (int epoch = 1; epoch <= source.epochs; ++epoch) {
    example::Progress progress("epoch " + std::to_string(epoch) + "/" + std::to_string(source.epochs),
                               train.images().size(0));
    for (auto& batch : *loader) {
      const ebb::Tensor loss = ebb::nn::functional::cross_entropy(net(batch.data.to(options.device)),
                                                                  batch.target.to(options.device));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      progress.advance(batch.data.size(0), loss.item<double>());
    }
    confusion = evaluate(net, test, classes, options.device);
    char result[48];
    std::snprintf(result, sizeof result, "test accuracy %.2f %%", 100 * accuracy(confusion));
    progress.finish(result);
  }
  print(confusion, source.classes);

  ebb::save(net, options.save);
  Net again(rows, columns, classes);
  ebb::load(again, options.save);
  again->to(options.device);
  const bool same = accuracy(evaluate(again, test, classes, options.device)) == accuracy(confusion);
  std::printf("\ntest accuracy %.2f %%; saved to %s and read back: %s\n", 100 * accuracy(confusion),
              options.save.c_str(), same ? "the same accuracy" : "NOT the same accuracy");
  return same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto options = parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  try {
    return run(*options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "train_cnn: %s\n", e.what());
    return 1;
  }
}
