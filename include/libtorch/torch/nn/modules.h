// All modules.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
#include <torch/nn/modules/common.h>
