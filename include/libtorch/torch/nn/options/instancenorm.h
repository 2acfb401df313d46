// Options of instance normalisation.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
