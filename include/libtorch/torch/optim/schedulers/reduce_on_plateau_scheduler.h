// Learning rates that fall on a plateau.
#pragma once

#include <ebb/optim/plateau.h>
#include <torch/csrc/namespaces.h>
