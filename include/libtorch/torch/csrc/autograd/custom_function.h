// Functions of programs.
#pragma once

#include <ATen/core/ivalue.h>
#include <ebb/autograd/function.h>
#include <torch/csrc/namespaces.h>
