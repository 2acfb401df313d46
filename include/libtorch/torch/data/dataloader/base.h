// Loaders: base.
#pragma once

#include <ebb/data.h>
#include <torch/csrc/namespaces.h>
#include <torch/data/detail/data_shuttle.h>
#include <torch/data/detail/sequencers.h>
