// Inference mode.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <torch/csrc/namespaces.h>
