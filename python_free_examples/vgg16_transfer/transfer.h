// Transfer learning with VGG: fit and accuracy on labelled tensors, a VGG with frozen convolutions and a new
// classifier, and the two tasks of the program.
#pragma once

#include <ebb/models.h>
#include <ebb/watch.h>

#include "common/program.h"

#include <cstdint>
#include <string>

/// Images or their features [n, ...], and their classes, Long [n].
struct Labelled {
  ebb::Tensor inputs, labels;
  std::int64_t size() const { return labels.size(0); }
  Labelled rows(const ebb::Tensor& at) const {
    return {inputs.index_select(0, at), labels.index_select(0, at)};
  }
  Labelled to(ebb::Device device) const { return {inputs.to(device), labels.to(device)}; }
};

struct Schedule {
  std::int64_t steps;
  std::int64_t batch;  ///< the size of a random batch; all data, if there are not more
  double lr = 1e-3;    ///< Adam's learning rate
};

/// Trains a network with Adam and cross entropy, one step for each unit of `bar`, and then sets it to
/// evaluation mode.
template <class Net>
void fit(Net& net, const Labelled& data, const Schedule& how, ebb::watch::Progress& bar) {
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(how.lr));
  net->train();
  for (std::int64_t step = 0; step < how.steps; ++step) {
    Labelled batch = data;
    if (how.batch < data.size())
      batch = data.rows(ebb::randint(data.size(), {how.batch}, ebb::kLong).to(data.labels.device()));
    const ebb::Tensor loss = ebb::nn::functional::cross_entropy(net(batch.inputs), batch.labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    bar.average("loss", loss).advance();
  }
  net->eval();
}

/// Returns the fraction of correct predictions.
template <class Net>
double accuracy(Net& net, const Labelled& data) {
  const ebb::NoGradGuard no_grad;
  net->eval();
  ebb::watch::Mean result;
  const auto inputs = data.inputs.split(256), labels = data.labels.split(256);
  for (std::size_t i = 0; i < inputs.size(); ++i) result.update(net(inputs[i]).argmax(1).eq(labels[i]));
  return result.value();
}

/// Replaces the classifier of `net` by two new linear layers with dropout between them.
inline void replace_classifier(ebb::models::VGG& net, std::int64_t hidden, std::int64_t classes) {
  const std::int64_t inputs = net->classifier->at<ebb::nn::LinearImpl>(0).options.in_features();
  const ebb::nn::Sequential classifier(ebb::nn::Linear(inputs, hidden), ebb::nn::ReLU(),
                                       ebb::nn::Dropout(0.5), ebb::nn::Linear(hidden, classes));
  net->classifier = net->replace_module("classifier", classifier);
}

/// Computes the features of images with the convolutions, in evaluation mode and without a graph. The
/// convolutions are frozen, so the features of an image need to be computed only once.
inline ebb::Tensor features(ebb::models::VGG& net, const ebb::Tensor& images) {
  const ebb::NoGradGuard no_grad;
  net->features->eval();
  return net->avgpool(net->features(images)).flatten(1);
}

/// Pretrains a narrow VGG on half of the classes of a dataset. On the other half, compares two networks: a
/// new classifier over the frozen convolutions of this VGG, and the same network trained from scratch. If
/// `epochs` is 0, the pretraining uses the dataset's default. Returns the exit code.
int compare_on_few_images(const example::Settings& settings, bool digits, std::int64_t epochs);

/// Trains a new classifier over the convolutions of VGG16 with torchvision's weights (a .pth or .safetensors
/// file). `images` is a folder with a folder of JPEG or PNG files for each class, and every fifth image is a
/// test image. Writes the whole network to vgg16_transfer.safetensors. If `epochs` is 0, makes 20 passes.
/// Returns the exit code.
int transfer_to_folder(const example::Settings& settings, const std::string& weights,
                       const std::string& images, std::int64_t epochs);
