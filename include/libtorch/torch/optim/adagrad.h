// The optimizer: adagrad.
#pragma once

#include <ebb/optim/adagrad.h>
#include <torch/csrc/namespaces.h>
