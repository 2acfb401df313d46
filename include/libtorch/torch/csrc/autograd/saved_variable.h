// Tensors kept for backward.
#pragma once

#include <ebb/autograd/saved_variable.h>
#include <torch/csrc/namespaces.h>
