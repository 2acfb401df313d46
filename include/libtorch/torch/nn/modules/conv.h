// Convolutions as modules.
#pragma once

#include <ebb/nn/modules/conv.h>
#include <torch/csrc/namespaces.h>
