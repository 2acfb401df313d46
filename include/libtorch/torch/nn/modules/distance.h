// Distances as modules.
#pragma once

#include <ebb/nn/modules/loss.h>
#include <torch/csrc/namespaces.h>
