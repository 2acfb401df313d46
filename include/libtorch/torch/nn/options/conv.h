// Options of convolutions.
#pragma once

#include <ebb/nn/functional/conv.h>
#include <torch/csrc/namespaces.h>
