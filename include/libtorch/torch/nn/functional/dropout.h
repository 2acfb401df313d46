// Dropout as functions.
#pragma once

#include <ebb/nn/functional/dropout.h>
#include <torch/csrc/namespaces.h>
