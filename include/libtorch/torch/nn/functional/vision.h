// Sampling at points of a grid.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
