// Module.
#pragma once

#include <ebb/nn/module.h>
#include <torch/csrc/namespaces.h>
#include <torch/ordered_dict.h>
#include <torch/types.h>
