// Options of batch normalisation.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
