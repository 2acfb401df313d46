// evaluate: the confusion matrix and accuracy of a classifier.
#pragma once

#include "model.h"

#include <string>
#include <vector>

/// counts[true class][predicted class].
using Confusion = std::vector<std::vector<std::int64_t>>;

Confusion evaluate(Net& net, const ebb::data::datasets::MNIST& images, std::int64_t classes,
                   ebb::Device device);
double accuracy(const Confusion& confusion);
void print(const Confusion& confusion, const std::vector<std::string>& names);
