// Options of the adaptive softmax.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
