// The real VGG16, on images of one's own.
#pragma once

#include "common/program.h"

#include <string>

/// Trains a new classifier over the convolutions of VGG16 with torchvision's weights (a .pth or .safetensors
/// file), on a folder with a folder of JPEG or PNG files for each class; every fifth image is kept for
/// testing. Writes the whole network to vgg16_transfer.safetensors. Without `epochs`, 0, it makes 20
/// passes. Returns the exit code.
int transfer_to_folder(const example::Settings& settings, const std::string& weights,
                       const std::string& images, std::int64_t epochs);
