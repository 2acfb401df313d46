// CUDA devices.
#pragma once

#include <ATen/cuda/CUDAContext.h>
#include <torch/csrc/namespaces.h>
