// Convolutions as modules.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
