// Datasets, transforms and loaders.
#pragma once

#include <ebb/data/chunk_dataset.h>
#include <ebb/data/csv.h>
#include <ebb/data/data_loader.h>
#include <ebb/data/datasets.h>
#include <ebb/data/distributed_samplers.h>
#include <ebb/data/example.h>
#include <ebb/data/pipeline.h>
#include <ebb/data/samplers.h>
#include <ebb/data/stateful_dataset.h>
#include <ebb/data/stream_sampler.h>
#include <ebb/data/subset_samplers.h>
#include <ebb/data/subsets.h>
#include <ebb/data/text.h>
#include <ebb/data/transforms.h>

namespace ebb::data {
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace ebb::data
