// Errors of CUDA's runtime as exceptions.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <torch/csrc/namespaces.h>
