// compare_on_few_images: transfer learning against training from scratch, with a few images per class.
#pragma once

#include "common/program.h"

/// Pretrains a narrow VGG on half of the classes of a dataset. On the other half, compares a new classifier
/// over its frozen convolutions with the same network trained from scratch. If `epochs` is 0, the pretraining
/// uses the dataset's default. Returns the exit code.
int compare_on_few_images(const example::Settings& settings, bool digits, std::int64_t epochs);
