// Options of distances.
#pragma once

#include <ebb/nn/functional/loss.h>
#include <torch/csrc/namespaces.h>
