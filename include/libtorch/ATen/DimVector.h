// DimVector.
#pragma once

#include <ebb/core/small_vector.h>
#include <torch/csrc/namespaces.h>
