// The optimizer: sgd.
#pragma once

#include <ebb/optim/sgd.h>
#include <torch/csrc/namespaces.h>
