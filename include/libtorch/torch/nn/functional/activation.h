// Activations as functions.
#pragma once

#include <ebb/nn/functional/activation.h>
#include <torch/csrc/namespaces.h>
