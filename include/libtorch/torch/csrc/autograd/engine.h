// The entrances of the engine.
#pragma once

#include <ebb/autograd/backward.h>
#include <torch/csrc/namespaces.h>
