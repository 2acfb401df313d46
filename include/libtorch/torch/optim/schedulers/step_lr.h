// Steps of the learning rate.
#pragma once

#include <ebb/optim/schedules.h>
#include <torch/csrc/namespaces.h>
