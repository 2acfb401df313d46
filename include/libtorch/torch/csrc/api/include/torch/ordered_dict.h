// <torch/ordered_dict.h> by its longer name.
#pragma once

#include <torch/csrc/namespaces.h>
#include <torch/ordered_dict.h>
