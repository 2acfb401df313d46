// The optimizer: rmsprop.
#pragma once

#include <ebb/optim/rmsprop.h>
#include <torch/optim/optimizer.h>
