// Judge: a classifier of real images, which scores generated ones.
#pragma once

#include <ebb/ebb.h>

#include "common/images.h"

/// A classifier, trained on real images and their labels.
class Judge {
 public:
  Judge(const example::Images& images, std::int64_t epochs, ebb::Device device);

  /// Returns the class probabilities [n, classes] of images with values in [0, 1].
  ebb::Tensor probabilities(const ebb::Tensor& images);
  /// Returns the inception score (Salimans et al. 2016), exp(mean KL(p(class | image) || p(class))). It is
  /// the number of classes if the judge is certain about every image and all classes are equally frequent,
  /// and 1 if all images have the same class probabilities.
  double score(const ebb::Tensor& images);
  /// Returns the fraction of images that the judge classifies correctly.
  double accuracy(const ebb::Tensor& images, const ebb::Tensor& labels);

 private:
  ebb::nn::Sequential layers_;
};
