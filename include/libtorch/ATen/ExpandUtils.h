// Shapes that broadcast.
#pragma once

#include <ebb/ops/shape.h>
#include <torch/csrc/namespaces.h>
