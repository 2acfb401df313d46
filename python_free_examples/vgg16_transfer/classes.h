// A dataset that is split by class: a base part for the pretraining, and a part with new classes.
#pragma once

#include "learn.h"

#include <cstdint>
#include <string>

/// Both parts, each with the classes 0, 1, 2, ..., and the settings for them.
struct TwoParts {
  std::string title;
  std::int64_t base_classes, new_classes;
  std::int64_t base_epochs;  ///< passes over base_train
  double base_lr;
  double gain;  ///< the stated gain in accuracy by transfer
  Labelled base_train, base_test, new_train, new_test;
};

/// Loads Fashion-MNIST, or the digits of this repository if `digits` is true or Fashion-MNIST is not
/// installed.
TwoParts load_parts(bool digits, bool brief);

/// Returns `count` random images of each class, or all if there are fewer.
Labelled few_of_each(const Labelled& data, std::int64_t count);
