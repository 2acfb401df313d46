// Options of normalisation.
#pragma once

#include <ebb/nn/functional/norm.h>
#include <torch/csrc/namespaces.h>
