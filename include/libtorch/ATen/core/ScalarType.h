// ScalarType.
#pragma once

#include <c10/core/ScalarType.h>
#include <torch/csrc/namespaces.h>
