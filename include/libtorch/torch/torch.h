// What programs for libtorch include.
#pragma once

#include <ebb/core/api.h>  // first: it says what a compiler has to be

#include <torch/all.h>
#include <torch/csrc/namespaces.h>
