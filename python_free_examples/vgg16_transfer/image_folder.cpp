// transfer_to_folder: torchvision's VGG16 on a folder of images.
#include <ebb/models.h>
#include <ebb/vision.h>

#include "transfer.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace {

using ebb::Tensor;
using ebb::models::VGG;
using ebb::vision::datasets::ImageFolder;

// Opens a folder with the transforms of VGG16's training: images of 224x224, normalised with the statistics
// of ImageNet.
ImageFolder open_folder(const std::string& path) {
  namespace T = ebb::vision::transforms;
  return ImageFolder(path, T::Compose(T::Resize(256), T::CenterCrop(224), T::ToDtype(ebb::kFloat, true),
                                      T::Normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})));
}

// Computes the features of all images.
Labelled features_of(VGG& net, const ImageFolder& folder, ebb::Device device) {
  constexpr std::size_t kBatch = 16;
  auto loader = ebb::data::make_data_loader<ebb::data::samplers::SequentialSampler>(
      ImageFolder(folder).map(ebb::data::transforms::Stack<>()),
      ebb::data::DataLoaderOptions(kBatch).workers(1));
  std::vector<Tensor> inputs, labels;
  for (auto& batch : ebb::watch::progress(*loader, "features")) {
    inputs.push_back(features(net, batch.data.to(device)));
    labels.push_back(batch.target.to(device));
  }
  return {ebb::cat(inputs), ebb::cat(labels)};
}

}  // namespace

int transfer_to_folder(const example::Settings& settings, const std::string& weights,
                       const std::string& images, std::int64_t epochs) {
  constexpr std::int64_t kHidden = 256, kBatch = 32;
  if (!epochs) epochs = 20;
  const ImageFolder folder = open_folder(images);
  fmt::print("{} images of {} classes; their features are computed once\n", *folder.size(),
             folder.classes().size());
  VGG net = ebb::nn::utils::skip_init<VGG>(1000);
  ebb::load(net, weights);
  replace_classifier(net, kHidden, static_cast<std::int64_t>(folder.classes().size()));
  net->to(settings.device);

  const Labelled all = features_of(net, folder, settings.device);
  const Tensor fifth = ebb::arange(all.size(), all.labels.options()).remainder(5).eq(4);
  const Labelled train = all.rows(fifth.logical_not().nonzero().squeeze(1)),
                 test = all.rows(fifth.nonzero().squeeze(1));
  EBB_CHECK(test.size() > 0, "vgg16_transfer: ", images,
            " has too few images: at least five are needed, because every fifth image is a test image.");
  const std::int64_t steps = epochs * ((train.size() + kBatch - 1) / kBatch);
  ebb::watch::Progress bar("a new classifier", {steps});
  fit(net->classifier, train, {steps, kBatch}, bar);
  bar.finish(fmt::format("accuracy {:.4f} of {} training images, {:.4f} of {} others",
                         accuracy(net->classifier, train), train.size(), accuracy(net->classifier, test),
                         test.size()));
  ebb::save(net, settings.path("vgg16_transfer.safetensors"));
  return 0;
}
