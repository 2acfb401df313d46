// A data set cut in two by class: one part to learn from what images are like, and one that is new.
#pragma once

#include "learn.h"

#include <cstdint>
#include <string>

/// Both parts, whose classes are 0, 1, 2... each, and what is right for them.
struct TwoParts {
  std::string title;
  std::int64_t base_classes, new_classes;
  std::int64_t base_epochs;  ///< passes over base_train
  double base_lr;
  double gain;  ///< by transfer, as stated
  Labelled base_train, base_test, new_train, new_test;
};

/// Fashion-MNIST where it is installed, else, or if they are asked for, the digits of this repository.
TwoParts load_parts(bool digits, bool brief);

/// That many of each class, drawn at random; all, where there are no more.
Labelled few_of_each(const Labelled& data, std::int64_t count);
