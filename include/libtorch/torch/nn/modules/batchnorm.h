// Batch normalisation as modules.
#pragma once

#include <ebb/nn/modules/norm.h>
#include <torch/csrc/namespaces.h>
