// Datasets, transforms and loaders.
#pragma once

#include <ebb/data/data_loader.h>
#include <ebb/data/datasets.h>
#include <ebb/data/example.h>
#include <ebb/data/idx.h>
#include <ebb/data/samplers.h>
#include <ebb/data/transforms.h>

namespace ebb::data {
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace ebb::data
