// BFloat16.
#pragma once

#include <ebb/core/half.h>
#include <torch/csrc/namespaces.h>
