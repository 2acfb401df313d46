// Sizes for all dimensions or for each.
#pragma once

#include <ebb/nn/expanding_array.h>
#include <torch/csrc/namespaces.h>
