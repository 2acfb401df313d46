// Streams.
#pragma once

#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/namespaces.h>
