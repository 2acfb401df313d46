// Modules and values of any type.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
