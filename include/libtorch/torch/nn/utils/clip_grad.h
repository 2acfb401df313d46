// Bounds of gradients.
#pragma once

#include <ebb/nn/utils.h>
#include <torch/csrc/namespaces.h>
