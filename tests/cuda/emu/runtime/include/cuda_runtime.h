// The subset of NVIDIA's cuda_runtime.h that ebb needs, for builds with an ordinary C++ compiler: the
// "device" is this process, and its memory is a protected part of the address space. Names and semantics are
// those of the CUDA Runtime API.
#pragma once

#include "cuda/emu/runtime/api.h"
#include "cuda/emu/runtime/block.h"
#include "cuda/emu/runtime/intrinsics.h"
#include "cuda/emu/runtime/launch.h"
