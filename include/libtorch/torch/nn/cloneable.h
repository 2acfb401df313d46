// Cloneable.
#pragma once

#include <ebb/nn/cloneable.h>
#include <torch/csrc/namespaces.h>
