// Modes, threads and seeds.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <ebb/core/random.h>
#include <torch/csrc/autograd/grad_mode.h>
