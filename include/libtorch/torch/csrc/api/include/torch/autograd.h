// <torch/autograd.h> by its longer name.
#pragma once

#include <torch/autograd.h>
#include <torch/csrc/namespaces.h>
