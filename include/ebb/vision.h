// Image files, transforms and datasets, in a separate library, ebb::vision.
#pragma once

#include <ebb/ebb.h>
#include <ebb/vision/datasets.h>
#include <ebb/vision/grid.h>
#include <ebb/vision/image_io.h>
#include <ebb/vision/transforms.h>
