// Options of pooling.
#pragma once

#include <ebb/nn/functional/pooling.h>
#include <torch/csrc/namespaces.h>
