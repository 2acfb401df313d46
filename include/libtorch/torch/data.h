// Datasets, samplers, transforms and loaders.
#pragma once

#include <ebb/data.h>
#include <torch/csrc/namespaces.h>
#include <torch/data/dataloader/base.h>
