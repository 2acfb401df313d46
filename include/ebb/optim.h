// Optimizers and learning-rate schedules.
#pragma once

#include <ebb/optim/adadelta.h>
#include <ebb/optim/adafactor.h>
#include <ebb/optim/adagrad.h>
#include <ebb/optim/adam.h>
#include <ebb/optim/adamax.h>
#include <ebb/optim/asgd.h>
#include <ebb/optim/cycles.h>
#include <ebb/optim/lbfgs.h>
#include <ebb/optim/lion.h>
#include <ebb/optim/muon.h>
#include <ebb/optim/nadam.h>
#include <ebb/optim/plateau.h>
#include <ebb/optim/radam.h>
#include <ebb/optim/rmsprop.h>
#include <ebb/optim/rprop.h>
#include <ebb/optim/schedules.h>
#include <ebb/optim/sgd.h>
#include <ebb/optim/swa_utils.h>
