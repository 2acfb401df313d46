// Scalar.
#pragma once

#include <ebb/core/scalar.h>
#include <torch/csrc/namespaces.h>
