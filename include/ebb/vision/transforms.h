// Transforms of images: torchvision.transforms.v2 on tensors.
#pragma once

#include <ebb/vision/transforms/augment.h>
#include <ebb/vision/transforms/color.h>
#include <ebb/vision/transforms/compose.h>
#include <ebb/vision/transforms/geometry.h>
#include <ebb/vision/transforms/pixels.h>
#include <ebb/vision/transforms/random_crop.h>
#include <ebb/vision/transforms/resize.h>
