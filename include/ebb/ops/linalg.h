// Linear algebra; ebb::linalg as torch::linalg, whose vector_norm is a reduction.
#pragma once

#include <ebb/ops/linalg/decomposition.h>
#include <ebb/ops/linalg/matrix.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/linalg/solve.h>
#include <ebb/ops/reduce/reductions.h>
