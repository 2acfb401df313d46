// Linear algebra: ebb::linalg, as torch::linalg.
#pragma once

#include <ebb/ops/decomposition.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/matrix.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/solve.h>
