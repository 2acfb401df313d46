// Linear maps as modules.
#pragma once

#include <ebb/nn/modules/linear.h>
#include <torch/csrc/namespaces.h>
