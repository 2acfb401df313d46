// torch::cuda.
#pragma once

#include <ebb/cuda/cuda.h>
#include <torch/csrc/namespaces.h>
