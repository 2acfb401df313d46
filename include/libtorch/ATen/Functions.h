// The functions on tensors.
#pragma once

#include <ebb/ebb.h>
#include <torch/csrc/namespaces.h>
