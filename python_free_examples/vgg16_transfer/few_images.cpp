// compare_on_few_images: transfer learning against training from scratch, with a few images per class.
#include <ebb/models.h>

#include "common/images.h"
#include "transfer.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace {

using ebb::Tensor;
using ebb::data::datasets::MNIST;
using ebb::models::VGG;
using ebb::models::VGGOptions;

// A dataset that is split by class: a base part for the pretraining, and a part with new classes. Each part
// has the classes 0, 1, 2, ...
struct TwoParts {
  std::string title;
  std::int64_t base_classes, new_classes;
  std::int64_t base_epochs;  ///< passes over base_train
  double base_lr;
  double gain;  ///< the stated gain in accuracy by transfer
  Labelled base_train, base_test, new_train, new_test;
};

using Classes = std::vector<std::int64_t>;

Labelled of_classes(const MNIST& data, const Classes& classes) {
  std::vector<Tensor> images, labels;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const Tensor at = data.targets().eq(classes[k]).nonzero().squeeze(1);
    images.push_back(data.images().index_select(0, at));
    labels.push_back(ebb::full({at.size(0)}, static_cast<std::int64_t>(k), ebb::kLong));
  }
  return {ebb::cat(images), ebb::cat(labels)};
}

void read_parts(TwoParts& parts, const char* folder, const Classes& base, const Classes& fresh) {
  const MNIST train(folder), test(folder, MNIST::Mode::kTest);
  parts.base_classes = static_cast<std::int64_t>(base.size());
  parts.new_classes = static_cast<std::int64_t>(fresh.size());
  parts.base_train = of_classes(train, base);
  parts.base_test = of_classes(test, base);
  parts.new_train = of_classes(train, fresh);
  parts.new_test = of_classes(test, fresh);
}

// Moves each image to a random position in a larger image of frame x frame pixels.
void scatter(Labelled& data, std::int64_t frame) {
  const Tensor& images = data.inputs;
  const std::int64_t n = images.size(0), size = images.size(2), places = frame - size + 1;
  const Tensor out = ebb::zeros({n, 1, frame, frame});
  const Tensor corners = ebb::randint(places, {n, 2}, ebb::kLong);
  const auto corner = corners.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = corner[i][0], column = corner[i][1];
    out[i].slice(1, row, row + size).slice(2, column, column + size).copy_(images[i]);
  }
  data.inputs = out;
}

// Returns `count` random images of each class, or all images of a class that has fewer.
Labelled few_of_each(const Labelled& data, std::int64_t count) {
  std::vector<Tensor> chosen;
  const auto classes = data.labels.max().item<std::int64_t>() + 1;
  for (std::int64_t k = 0; k < classes; ++k) {
    const Tensor at = data.labels.eq(k).nonzero().squeeze(1);
    const Tensor order = ebb::randperm(at.size(0), ebb::kLong).slice(0, 0, count);
    chosen.push_back(at.index_select(0, order));
  }
  return data.rows(ebb::cat(chosen));
}

// The digits are at random positions. Translation invariance can be learnt from other digits, but not from
// three images. (If these clean digits were in the middle of the image, training from scratch would be
// better.)
TwoParts load_digits() {
  TwoParts parts{"digits at random places; 4, 7, 8 and 9 are new", 0, 0, 40, 3e-3, 0.1, {}, {}, {}, {}};
  read_parts(parts, example::kDigits, {0, 1, 2, 3, 5, 6}, {4, 7, 8, 9});
  for (Labelled* data : {&parts.base_train, &parts.base_test, &parts.new_train, &parts.new_test})
    scatter(*data, 12);
  return parts;
}

TwoParts load_fashion(bool brief) {
  TwoParts parts{
      "Fashion-MNIST; pullovers, coats, shirts, bags and boots are new", 0, 0, 4, 1e-3, 0.03, {}, {}, {}, {}};
  read_parts(parts, example::kFashionMnist, {0, 1, 3, 5, 7}, {2, 4, 6, 8, 9});
  if (brief) {
    parts.base_train = few_of_each(parts.base_train, 1500);
    parts.new_test = few_of_each(parts.new_test, 250);
  }
  return parts;
}

// Loads Fashion-MNIST, or the digits of this repository if `digits` is true or Fashion-MNIST is not
// installed.
TwoParts load_parts(bool digits, bool brief) {
  return digits || !MNIST::present(example::kFashionMnist) ? load_digits() : load_fashion(brief);
}

constexpr std::int64_t kHidden = 64;      // the width between the two layers of the new classifier
constexpr std::int64_t kStatedShots = 3;  // the stated gain is for this number of images per class
constexpr std::int64_t kTransferSteps = 200, kScratchSteps = 150;

// Returns the first stages of VGG16 with fewer channels, for grey images of 28x28 or 12x12.
VGGOptions narrow_vgg16(std::int64_t classes, std::int64_t rows) {
  const auto options = VGGOptions(classes).in_channels(1).batch_norm(true).hidden(kHidden).pool(3);
  if (rows < 20) return VGGOptions(options).width(16).convolutions({2, 2});
  return VGGOptions(options).width(8).convolutions({2, 2, 3});
}

VGG pretrain(const TwoParts& parts, ebb::Device device) {
  constexpr std::int64_t kBatch = 64;
  const Labelled data = parts.base_train.to(device);
  VGG net(narrow_vgg16(parts.base_classes, data.inputs.size(2)));
  net->to(device);
  const std::int64_t steps = parts.base_epochs * data.size() / kBatch;
  ebb::watch::Progress bar("the base, on known classes", {steps});
  fit(net, data, {steps, kBatch, parts.base_lr}, bar);
  bar.finish(fmt::format("accuracy {:.3f}", accuracy(net, parts.base_test.to(device))));
  return net;
}

// Trains a new classifier over the frozen convolutions of `base` on the images `few`. Returns the test
// accuracy.
double by_transfer(VGG& base, const Labelled& few, const Labelled& test, std::int64_t classes,
                   ebb::watch::Progress& bar) {
  replace_classifier(base, kHidden, classes);
  base->classifier->to(few.inputs.device());
  fit(base->classifier, {features(base, few.inputs), few.labels}, {kTransferSteps, few.size()}, bar);
  return accuracy(base, test);
}

// Trains the same network from scratch on the images `few`. Returns the test accuracy.
double from_scratch(const VGGOptions& options, const Labelled& few, const Labelled& test,
                    std::int64_t classes, ebb::watch::Progress& bar) {
  VGG net(options);
  replace_classifier(net, kHidden, classes);
  net->to(few.inputs.device());
  fit(net, few, {kScratchSteps, few.size()}, bar);
  return accuracy(net, test);
}

}  // namespace

int compare_on_few_images(const example::Settings& settings, bool digits, std::int64_t epochs) {
  TwoParts parts = load_parts(digits, settings.brief);
  if (epochs) parts.base_epochs = epochs;
  fmt::print("{}\n", parts.title);
  VGG base = pretrain(parts, settings.device);

  const Labelled test = parts.new_test.to(settings.device);
  const std::vector<std::int64_t> shots = settings.brief ? std::vector<std::int64_t>{kStatedShots, 10}
                                                         : std::vector<std::int64_t>{1, 3, 5, 10, 30};
  const std::int64_t draws = settings.brief ? 5 : 10;
  double gain = 0;
  std::vector<double> x, transferred, scratch;
  fmt::print("new classes, mean accuracy of {} draws\nimages of each   transfer   from scratch\n", draws);
  ebb::watch::Progress bar("new classes", {std::ssize(shots) * draws * (kTransferSteps + kScratchSteps)});
  for (const std::int64_t count : shots) {
    ebb::watch::Mean with, without;
    for (std::int64_t i = 0; i < draws; ++i) {
      const Labelled few = few_of_each(parts.new_train, count).to(settings.device);
      with.update(by_transfer(base, few, test, parts.new_classes, bar));
      without.update(from_scratch(base->options, few, test, parts.new_classes, bar));
    }
    fmt::print("{:14}   {:8.3f}   {:12.3f}\n", count, with.value(), without.value());
    if (count == kStatedShots) gain = with.value() - without.value();
    x.push_back(static_cast<double>(count));
    transferred.push_back(with.value());
    scratch.push_back(without.value());
  }
  bar.finish();
  settings.draw("vgg16_transfer.svg", ebb::watch::Figure("New classes", "images per class", "accuracy")
                                          .line("frozen convolutions, new classifier", x, transferred)
                                          .line("from scratch", x, scratch));
  return example::at_least("gain by transfer, " + std::to_string(kStatedShots) + " images of each class",
                           gain, parts.gain);
}
