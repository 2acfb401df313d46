// Activations as modules.
#pragma once

#include <ebb/nn/modules/activation.h>
#include <torch/csrc/namespaces.h>
