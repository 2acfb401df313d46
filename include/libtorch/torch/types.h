// Tensors, dtypes, devices, and the functions on them.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/namespaces.h>
