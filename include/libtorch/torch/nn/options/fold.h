// Options of fold and unfold.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
