// Hooks.
#pragma once

#include <ebb/autograd/hooks.h>
#include <torch/csrc/namespaces.h>
