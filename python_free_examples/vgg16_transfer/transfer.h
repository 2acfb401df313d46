// replace_classifier and features: a VGG with frozen convolutions and a new classifier.
#pragma once

#include <ebb/models.h>

#include "learn.h"

#include <cstdint>

/// Replaces the classifier by a new one: two linear layers with dropout between them.
void replace_classifier(ebb::models::VGG& net, std::int64_t hidden, std::int64_t classes);

/// Computes the features of images with the convolutions, in evaluation mode and without a graph. The
/// convolutions are frozen, so the features of an image need to be computed only once.
ebb::Tensor features(ebb::models::VGG& net, const ebb::Tensor& images);
