// Options of activations.
#pragma once

#include <ebb/nn/functional/activation.h>
#include <torch/csrc/namespaces.h>
