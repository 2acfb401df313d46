// Padding as modules.
#pragma once

#include <ebb/nn/modules/padding.h>
#include <torch/csrc/namespaces.h>
