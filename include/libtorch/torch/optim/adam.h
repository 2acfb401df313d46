// The optimizer: adam.
#pragma once

#include <ebb/optim/adam.h>
#include <torch/optim/optimizer.h>
