// Options of pixel shuffles.
#pragma once

#include <ebb/nn/functional/padding.h>
#include <torch/csrc/namespaces.h>
