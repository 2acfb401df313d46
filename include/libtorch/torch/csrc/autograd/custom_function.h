// Functions of programs.
#pragma once

#include <ebb/autograd/function.h>
#include <torch/csrc/namespaces.h>
