// Options of embeddings.
#pragma once

#include <ebb/nn/functional/embedding.h>
#include <torch/csrc/namespaces.h>
