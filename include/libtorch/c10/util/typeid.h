// dtypes as types.
#pragma once

#include <ebb/core/dtype.h>
#include <torch/csrc/namespaces.h>
