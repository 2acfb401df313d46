// Fold and unfold as functions.
#pragma once

#include <ebb/nn/functional/padding.h>
#include <torch/csrc/namespaces.h>
