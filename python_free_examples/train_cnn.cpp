// Image classification: trains a small convolutional network, prints a confusion matrix, saves the model and
// loads it again.
//
// Trained on Fashion-MNIST, 60,000 grey images of clothes, for 8 epochs; without it on 1,797 handwritten
// digits for 30 epochs. Expected: a test accuracy of at least 0.9, or 0.96 on the digits (0.972 was reached).
// It takes 3 min on two cores, or 25 s on the digits. The short form takes 4 s.
#include <ebb/data.h>
#include <ebb/ebb.h>

#include "common/images.h"
#include "common/program.h"
#include "common/progress.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace nn = ebb::nn;

/// A small convolutional network: Conv 32 3x3 - ReLU - MaxPool - Conv 64 - ReLU - MaxPool - Conv 64 - ReLU -
/// Flatten - Linear 64 - ReLU - Linear classes.
struct NetImpl : nn::Module {
  NetImpl(std::int64_t rows, std::int64_t columns, std::int64_t classes) {
    // Images as small as 8x8 need padding: without it the convolutions and pools would leave no elements.
    const std::int64_t pad = std::min(rows, columns) < 20 ? 1 : 0;
    const auto after = [pad](std::int64_t n) {
      return ((n + 2 * pad - 2) / 2 + 2 * pad - 2) / 2 + 2 * pad - 2;
    };
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(pad)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(pad)));
    conv3 = register_module("conv3", nn::Conv2d(nn::Conv2dOptions(64, 64, 3).padding(pad)));
    fc1 = register_module("fc1", nn::Linear(64 * after(rows) * after(columns), 64));
    fc2 = register_module("fc2", nn::Linear(64, classes));
  }

  ebb::Tensor forward(ebb::Tensor x) {
    x = ebb::max_pool2d(ebb::relu(conv1(x)), 2);
    x = ebb::max_pool2d(ebb::relu(conv2(x)), 2);
    x = ebb::relu(conv3(x)).flatten(1);
    return fc2(ebb::relu(fc1(x)));
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
EBB_MODULE(Net);

namespace {

using ebb::data::datasets::MNIST;

// counts[true class][predicted class].
using Confusion = std::vector<std::vector<std::int64_t>>;

Confusion evaluate(Net& net, const MNIST& images, std::int64_t classes, ebb::Device device) {
  constexpr std::int64_t kBatch = 512;
  ebb::NoGradGuard no_grad;
  net->eval();
  Confusion confusion(classes, std::vector<std::int64_t>(classes));
  const std::int64_t n = images.images().size(0);
  for (std::int64_t start = 0; start < n; start += kBatch) {
    const auto end = std::min(n, start + kBatch);
    const ebb::Tensor guess = net(images.images().slice(0, start, end).to(device)).argmax(1).to(ebb::kCPU);
    const ebb::Tensor truth = images.targets().slice(0, start, end);
    const auto g = guess.accessor<std::int64_t, 1>(), t = truth.accessor<std::int64_t, 1>();
    for (std::int64_t i = 0; i < end - start; ++i) ++confusion[t[i]][g[i]];
  }
  net->train();
  return confusion;
}

double accuracy(const Confusion& confusion) {
  std::int64_t right = 0, all = 0;
  for (std::size_t i = 0; i < confusion.size(); ++i)
    for (std::size_t j = 0; j < confusion.size(); ++j) {
      all += confusion[i][j];
      if (i == j) right += confusion[i][j];
    }
  return all ? static_cast<double>(right) / static_cast<double>(all) : 0;
}

void print(const Confusion& confusion, const std::vector<std::string>& names) {
  std::printf("\nrows: true classes; columns: predictions\n%10s", "");
  for (std::size_t j = 0; j < confusion.size(); ++j) std::printf(" %8.8s", names[j].c_str());
  std::printf("   recall\n");
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    std::int64_t row = 0;
    std::printf("%10.10s", names[i].c_str());
    for (const std::int64_t count : confusion[i]) {
      row += count;
      if (count)
        std::printf(" %8lld", static_cast<long long>(count));
      else
        std::printf(" %8s", ".");
    }
    std::printf("  %6.1f%%\n",
                row ? 100.0 * static_cast<double>(confusion[i][i]) / static_cast<double>(row) : 0.0);
  }
}

// A folder of IDX files, its title and class names, and the settings of the training.
struct Source {
  std::string folder, title;
  std::vector<std::string> classes;
  int epochs;
  double lr;
  double stated;  ///< the stated test accuracy
};

std::vector<std::string> numbered() { return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}; }

// Returns `folder` if it is not empty. Otherwise returns Fashion-MNIST, if Debian's dataset-fashion-mnist is
// installed and `small` is false, or the 1,797 digits.
Source find_source(const std::string& folder, bool small) {
  if (!folder.empty()) return {folder, folder, numbered(), 8, 1e-3, 0};
  if (!small && MNIST::present(example::kFashionMnist))
    return {example::kFashionMnist,
            "Fashion-MNIST",
            {"T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Boot"},
            8,
            1e-3,
            0.9};
  return {example::kDigits, "UCI handwritten digits", numbered(), small ? 12 : 30, 3e-3, small ? 0.93 : 0.96};
}

struct Options {
  std::string data, save = "train_cnn.safetensors";
  std::int64_t epochs = 0, batch = 64;
  double lr = 0;
};

std::int64_t classes_of(const MNIST& train, const MNIST& test) {
  return std::max(train.targets().max().item<std::int64_t>(), test.targets().max().item<std::int64_t>()) + 1;
}

int train_on(Source source, const Options& options, const example::Settings& settings) {
  const MNIST train(source.folder), test(source.folder, MNIST::Mode::kTest);
  const std::int64_t classes = classes_of(train, test), rows = train.images().size(2),
                     columns = train.images().size(3);
  for (auto i = static_cast<std::int64_t>(source.classes.size()); i < classes; ++i)
    source.classes.push_back(std::to_string(i));
  std::printf("%s: %zu training and %zu test images of %lldx%lld, %lld classes, on %s\n",
              source.title.c_str(), *train.size(), *test.size(), static_cast<long long>(rows),
              static_cast<long long>(columns), static_cast<long long>(classes),
              settings.device.str().c_str());

  Net net(rows, columns, classes);
  net->to(settings.device);
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(source.lr));
  auto loader = ebb::data::make_data_loader(
      MNIST(train).map(ebb::data::transforms::Stack<>()),
      ebb::data::DataLoaderOptions(static_cast<std::size_t>(options.batch)).workers(1));

  Confusion confusion;
  for (int epoch = 1; epoch <= source.epochs; ++epoch) {
    example::Progress progress("epoch " + std::to_string(epoch) + "/" + std::to_string(source.epochs),
                               train.images().size(0));
    for (auto& batch : *loader) {
      const ebb::Tensor loss = ebb::nn::functional::cross_entropy(net(batch.data.to(settings.device)),
                                                                  batch.target.to(settings.device));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      progress.advance(batch.data.size(0), loss.item<double>());
    }
    confusion = evaluate(net, test, classes, settings.device);
    char result[48];
    std::snprintf(result, sizeof result, "test accuracy %.2f %%", 100 * accuracy(confusion));
    progress.finish(result);
  }
  print(confusion, source.classes);

  const std::string path = settings.path(options.save);
  ebb::save(net, path);
  Net again(rows, columns, classes);
  ebb::load(again, path);
  again->to(settings.device);
  const bool same = accuracy(evaluate(again, test, classes, settings.device)) == accuracy(confusion);
  std::printf("\nsaved to %s and loaded again: %s\n", path.c_str(),
              same ? "the same accuracy" : "NOT the same accuracy");
  return example::at_least("test accuracy", accuracy(confusion), source.stated) + (same ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program(
      "Trains a small CNN on images in the format of MNIST.\n"
      "Without --data: Fashion-MNIST if Debian's dataset-fashion-mnist is installed, otherwise 1,797 "
      "handwritten digits.");
  Options options;
  program.option("--data", options.data,
                 "folder with {train,t10k}-{images-idx3,labels-idx1}-ubyte, raw or .gz");
  program.option("--epochs", options.epochs,
                 "passes over the training images (default: 8; for digits 30); other values state no result");
  program.option("--batch", options.batch, "images a step");
  program.option("--lr", options.lr, "Adam's learning rate (default: 0.001; for digits 0.003)");
  program.option("--save", options.save, "file of the trained model, in the folder of --out");
  return program.run(argc, argv, [&](const example::Settings& settings) {
    Source source = find_source(options.data, settings.brief);
    if (options.epochs > 0) source.epochs = static_cast<int>(options.epochs), source.stated = 0;
    if (options.lr > 0) source.lr = options.lr;
    return train_on(std::move(source), options, settings);
  });
}
