// The base of schedules.
#pragma once

#include <ebb/optim/scheduler.h>
#include <torch/csrc/namespaces.h>
