// TORCH_ARG: an option of a class of options.
#pragma once

#include <ebb/core/arg.h>

#include <torch/csrc/namespaces.h>

#define TORCH_ARG(T, name) EBB_ARG(T, name)
