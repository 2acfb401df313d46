// The optimizer: adagrad.
#pragma once

#include <ebb/optim/adagrad.h>
#include <torch/optim/optimizer.h>
