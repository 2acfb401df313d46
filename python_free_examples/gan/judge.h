// How good generated images are: what a classifier of real ones says of them.
#pragma once

#include <ebb/ebb.h>

#include "common/images.h"

/// A classifier, trained on real images and their labels.
class Judge {
 public:
  Judge(const example::Images& images, std::int64_t epochs, ebb::Device device);

  /// The probability of each class, of images in [0, 1]: [n, classes].
  ebb::Tensor probabilities(const ebb::Tensor& images);
  /// The inception score (Salimans et al. 2016), exp(mean KL(p(class | image) || p(class))): the number of
  /// classes where the judge is sure of every image and each class is as frequent as the others, 1 where all
  /// images look alike.
  double score(const ebb::Tensor& images);
  /// The part of images that it names right.
  double accuracy(const ebb::Tensor& images, const ebb::Tensor& labels);

 private:
  ebb::nn::Sequential layers_;
};
