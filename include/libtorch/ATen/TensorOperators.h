// Operators of tensors.
#pragma once

#include <ebb/ops/elementwise.h>
#include <torch/csrc/namespaces.h>
