// Tensors as parts of a graph.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/autograd/record.h>
#include <ebb/autograd/variable.h>
#include <torch/csrc/namespaces.h>
