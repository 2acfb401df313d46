// Pooling as functions.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
