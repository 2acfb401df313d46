// Modules and values of any type.
#pragma once

#include <ebb/nn/any_module.h>
#include <torch/csrc/namespaces.h>
