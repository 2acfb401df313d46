// Marks in streams.
#pragma once

#include <ATen/cuda/CUDAEvent.h>
#include <torch/csrc/namespaces.h>
