// Pooling as modules.
#pragma once

#include <ebb/nn/modules/pooling.h>
#include <torch/csrc/namespaces.h>
