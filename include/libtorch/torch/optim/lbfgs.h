// The optimizer: lbfgs.
#pragma once

#include <ebb/optim/lbfgs.h>
#include <torch/optim/optimizer.h>
