// Pooling as functions.
#pragma once

#include <ebb/nn/functional/pooling.h>
#include <torch/csrc/namespaces.h>
