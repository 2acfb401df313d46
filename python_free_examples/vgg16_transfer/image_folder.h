// transfer_to_folder: torchvision's VGG16 on a folder of images.
#pragma once

#include "common/program.h"

#include <string>

/// Trains a new classifier over the convolutions of VGG16 with torchvision's weights (a .pth or .safetensors
/// file). `images` is a folder with a folder of JPEG or PNG files for each class, and every fifth image is a
/// test image. Writes the whole network to vgg16_transfer.safetensors. If `epochs` is 0, makes 20 passes.
/// Returns the exit code.
int transfer_to_folder(const example::Settings& settings, const std::string& weights,
                       const std::string& images, std::int64_t epochs);
