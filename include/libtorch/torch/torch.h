// The header that programs for libtorch include.
#pragma once

#include <ebb/core/api.h>  // first, because it checks the compiler

#include <torch/all.h>
#include <torch/csrc/namespaces.h>
