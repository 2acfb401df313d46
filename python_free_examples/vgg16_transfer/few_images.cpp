// compare_on_few_images: transfer learning against training from scratch, with a few images per class.
#include "few_images.h"

#include <ebb/models.h>

#include "classes.h"
#include "common/chart.h"
#include "transfer.h"

#include <cstdio>
#include <string>
#include <vector>

namespace {

using ebb::models::VGG;
using ebb::models::VGGOptions;

constexpr std::int64_t kHidden = 64;      // the width between the two layers of the new classifier
constexpr std::int64_t kStatedShots = 3;  // the stated gain is for this number of images per class

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
  example::Progress progress("the base, on known classes", steps * kBatch);
  fit(net, data, {steps, kBatch, parts.base_lr}, &progress);
  char result[48];
  std::snprintf(result, sizeof result, "accuracy %.3f", accuracy(net, parts.base_test.to(device)));
  progress.finish(result);
  return net;
}

// Trains a new classifier over the frozen convolutions of `base` on the images `few`. Returns the test
// accuracy.
double by_transfer(VGG& base, const Labelled& few, const Labelled& test, std::int64_t classes) {
  replace_classifier(base, kHidden, classes);
  base->classifier->to(few.inputs.device());
  fit(base->classifier, {features(base, few.inputs), few.labels}, {200, few.size()});
  return accuracy(base, test);
}

// Trains the same network from scratch on the images `few`. Returns the test accuracy.
double from_scratch(const VGGOptions& options, const Labelled& few, const Labelled& test,
                    std::int64_t classes) {
  VGG net(options);
  replace_classifier(net, kHidden, classes);
  net->to(few.inputs.device());
  fit(net, few, {150, few.size()});
  return accuracy(net, test);
}

}  // namespace

int compare_on_few_images(const example::Settings& settings, bool digits, std::int64_t epochs) {
  TwoParts parts = load_parts(digits, settings.brief);
  if (epochs) parts.base_epochs = epochs;
  std::printf("%s\n", parts.title.c_str());
  VGG base = pretrain(parts, settings.device);

  const Labelled test = parts.new_test.to(settings.device);
  const std::vector<std::int64_t> shots = settings.brief ? std::vector<std::int64_t>{kStatedShots, 10}
                                                         : std::vector<std::int64_t>{1, 3, 5, 10, 30};
  const int draws = settings.brief ? 5 : 10;
  double gain = 0;
  std::vector<double> x, transferred, scratch;
  std::printf("new classes, mean accuracy of %d draws\nimages of each   transfer   from scratch\n", draws);
  for (const std::int64_t count : shots) {
    double with = 0, without = 0;
    for (int i = 0; i < draws; ++i) {
      const Labelled few = few_of_each(parts.new_train, count).to(settings.device);
      with += by_transfer(base, few, test, parts.new_classes) / draws;
      without += from_scratch(base->options, few, test, parts.new_classes) / draws;
    }
    std::printf("%14lld   %8.3f   %12.3f\n", static_cast<long long>(count), with, without);
    if (count == kStatedShots) gain = with - without;
    x.push_back(static_cast<double>(count));
    transferred.push_back(with);
    scratch.push_back(without);
  }
  example::Chart("New classes", "images per class", "accuracy")
      .line("frozen convolutions, new classifier", x, transferred)
      .line("from scratch", x, scratch)
      .write(settings.path("vgg16_transfer.svg"));
  return example::at_least("gain by transfer, " + std::to_string(kStatedShots) + " images of each class",
                           gain, parts.gain);
}
