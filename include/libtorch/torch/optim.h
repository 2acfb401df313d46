// Optimizers and schedules.
#pragma once

#include <ebb/optim.h>
#include <torch/csrc/namespaces.h>
