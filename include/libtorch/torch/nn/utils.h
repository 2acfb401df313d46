// Tools for gradients and parameters.
#pragma once

#include <ebb/nn.h>
#include <ebb/nn/utils.h>
#include <torch/csrc/namespaces.h>
