// What programs for libtorch include.
#pragma once

#include <torch/all.h>
#include <torch/csrc/namespaces.h>
