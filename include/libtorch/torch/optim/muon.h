// The optimizer: muon.
#pragma once

#include <ebb/optim/muon.h>
#include <torch/optim/optimizer.h>
