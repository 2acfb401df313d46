// Parameters as one vector.
#pragma once

#include <ebb/nn/utils.h>
#include <torch/csrc/namespaces.h>
