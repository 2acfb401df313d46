// Transfer against training from scratch, where a class has but a few images.
#pragma once

#include "common/program.h"

/// Pretrains a narrow VGG on half of the classes of a data set and compares, on the other half, a new
/// classifier over its frozen convolutions with the same network trained from scratch. Without `epochs`, 0,
/// the pretraining takes as many as suit the data. Returns the exit code.
int compare_on_few_images(const example::Settings& settings, bool digits, std::int64_t epochs);
