// Guards of streams.
#pragma once

#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/namespaces.h>
