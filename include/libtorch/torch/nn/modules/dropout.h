// Dropout as modules.
#pragma once

#include <ebb/nn/modules/dropout.h>
#include <torch/csrc/namespaces.h>
