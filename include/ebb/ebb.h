// Everything a program needs: #include <ebb/ebb.h>.
#pragma once

#include <ebb/autograd/anomaly.h>
#include <ebb/autograd/backward.h>
#include <ebb/autograd/checkpoint.h>
#include <ebb/autograd/function.h>
#include <ebb/autograd/functional.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/gradcheck.h>
#include <ebb/autograd/graph.h>
#include <ebb/autograd/hooks.h>
#include <ebb/autograd/node.h>
#include <ebb/autograd/record.h>
#include <ebb/autograd/saved_variable.h>
#include <ebb/autograd/variable.h>
#include <ebb/core/allocator.h>
#include <ebb/core/parallel.h>
#include <ebb/core/random.h>
#include <ebb/ops/elementwise.h>
#include <ebb/cuda/cuda.h>
#include <ebb/ops/conv.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
