// Options of linear maps.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
