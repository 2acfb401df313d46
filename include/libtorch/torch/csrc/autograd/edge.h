// Where gradients go.
#pragma once

#include <ebb/autograd/node.h>
#include <torch/csrc/namespaces.h>
