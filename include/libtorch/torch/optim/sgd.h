// The optimizer: sgd.
#pragma once

#include <ebb/optim/sgd.h>
#include <torch/optim/optimizer.h>
