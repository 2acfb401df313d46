// backward and grad.
#pragma once

#include <ebb/autograd/backward.h>
#include <torch/csrc/namespaces.h>
