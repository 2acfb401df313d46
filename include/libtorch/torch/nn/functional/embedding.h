// Embeddings as functions.
#pragma once

#include <ebb/nn/functional/embedding.h>
#include <torch/csrc/namespaces.h>
