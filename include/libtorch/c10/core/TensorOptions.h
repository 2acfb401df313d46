// TensorOptions.
#pragma once

#include <ebb/core/options.h>
#include <torch/csrc/namespaces.h>
