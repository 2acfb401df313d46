// Options of linear maps.
#pragma once

#include <ebb/nn/functional/linear.h>
#include <torch/csrc/namespaces.h>
