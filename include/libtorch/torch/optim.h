// Optimizers and schedules.
#pragma once

#include <ebb/optim.h>
#include <torch/csrc/namespaces.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/serialize.h>
