// Options of losses.
#pragma once

#include <ebb/nn/functional/loss.h>
#include <torch/csrc/namespaces.h>
