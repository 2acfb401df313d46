// Linear algebra. ebb::linalg corresponds to torch::linalg; linalg::vector_norm is declared with the
// reductions.
#pragma once

#include <ebb/ops/linalg/decomposition.h>
#include <ebb/ops/linalg/matrix.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/linalg/solve.h>
#include <ebb/ops/reduce/reductions.h>
