// The base of optimizers.
#pragma once

#include <ebb/optim/optimizer.h>
#include <torch/csrc/namespaces.h>
