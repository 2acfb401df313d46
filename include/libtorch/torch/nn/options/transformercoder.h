// Options of encoders and decoders of transformers.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>
