// Optimizers and learning-rate schedules.
#pragma once

#include <ebb/optim/adagrad.h>
#include <ebb/optim/adam.h>
#include <ebb/optim/rmsprop.h>
#include <ebb/optim/scheduler.h>
#include <ebb/optim/sgd.h>
