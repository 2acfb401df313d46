// Tensor.
#pragma once

#include <ebb/autograd/variable.h>
#include <torch/csrc/namespaces.h>
