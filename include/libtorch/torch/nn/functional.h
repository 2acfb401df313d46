// Functions of layers.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
#include <torch/nn/functional/dropout.h>
