// Embeddings as modules.
#pragma once

#include <ebb/nn/modules/embedding.h>
#include <torch/csrc/namespaces.h>
