// Tensors of scalars.
#pragma once

#include <ebb/ops/creation.h>
#include <torch/csrc/namespaces.h>
