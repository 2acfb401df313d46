// NVIDIA's cuda_runtime.h as far as ebb needs it, for a build by an ordinary C++ compiler: the "device" is
// this process, its memory a guarded part of ours. Names and meanings are those of the CUDA Runtime API.
#pragma once

#include "cuda/emu/runtime/api.h"
#include "cuda/emu/runtime/block.h"
#include "cuda/emu/runtime/intrinsics.h"
#include "cuda/emu/runtime/launch.h"
