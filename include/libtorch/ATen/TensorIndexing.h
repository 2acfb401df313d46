// Slices and other indices.
#pragma once

#include <ebb/ops/indexing.h>
#include <torch/csrc/namespaces.h>
