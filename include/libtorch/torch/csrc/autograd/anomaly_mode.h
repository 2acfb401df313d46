// Where a gradient went wrong.
#pragma once

#include <ebb/autograd/anomaly.h>
#include <torch/csrc/namespaces.h>
