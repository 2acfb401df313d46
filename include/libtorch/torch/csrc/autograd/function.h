// The nodes of a graph.
#pragma once

#include <ebb/autograd/node.h>
#include <torch/csrc/namespaces.h>
