// Everything a program needs: #include <ebb/ebb.h>.
#pragma once

#include <ebb/core/api.h>  // first: it says what a compiler has to be

#include <ebb/amp/autocast.h>
#include <ebb/amp/grad_scaler.h>
#include <ebb/autograd/anomaly.h>
#include <ebb/autograd/backward.h>
#include <ebb/autograd/checkpoint.h>
#include <ebb/autograd/function.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/graph.h>
#include <ebb/autograd/hooks.h>
#include <ebb/autograd/node.h>
#include <ebb/autograd/record.h>
#include <ebb/autograd/rng_state.h>
#include <ebb/autograd/saved_variable.h>
#include <ebb/autograd/variable.h>
#include <ebb/checkpoint.h>
#include <ebb/compile.h>
#include <ebb/core/allocator.h>
#include <ebb/core/deterministic.h>
#include <ebb/core/isa.h>
#include <ebb/core/maybe_owned.h>
#include <ebb/core/parallel.h>
#include <ebb/core/random.h>
#include <ebb/core/storage_handle.h>
#include <ebb/core/version.h>
#include <ebb/core/warning.h>
#include <ebb/cuda/context.h>
#include <ebb/cuda/cuda.h>
#include <ebb/data.h>
#include <ebb/derivatives/functional.h>
#include <ebb/derivatives/gradcheck.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/safetensors.h>
#include <ebb/io/sharded.h>
#include <ebb/nn.h>
#include <ebb/ops/attention.h>
#include <ebb/ops/conv.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/rnn.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/special.h>
#include <ebb/optim.h>
#include <ebb/serialize.h>

// What libtorch's umbrella brings along and programs written for it use.
#include <chrono>
#include <sstream>
#include <unordered_set>
#include <variant>
