// TORCH_ARG: declares an option of an options class.
#pragma once

#include <ebb/core/arg.h>

#include <torch/csrc/namespaces.h>

#define TORCH_ARG(T, name) EBB_ARG(T, name)
