// A VGG whose convolutions are kept as they are, and a new classifier on top.
#pragma once

#include <ebb/models.h>

#include "learn.h"

#include <cstdint>

/// Puts a new classifier in the place of the old one: two linear layers with dropout between them.
void replace_classifier(ebb::models::VGG& net, std::int64_t hidden, std::int64_t classes);

/// What the convolutions make of images. They are in evaluation and nothing is recorded: this part does not
/// learn, so that what it says of an image needs to be computed but once.
ebb::Tensor features(ebb::models::VGG& net, const ebb::Tensor& images);
