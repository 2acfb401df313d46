// Options of convolutions.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
