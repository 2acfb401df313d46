// Mixed precision.
#pragma once

#include <ebb/ebb.h>
#include <torch/csrc/namespaces.h>
