// Elementwise ops: arithmetic, comparison, unary functions, activation functions, and operators.
#pragma once

#include <ebb/ops/elementwise/activation.h>
#include <ebb/ops/elementwise/arithmetic.h>
#include <ebb/ops/elementwise/compare.h>
#include <ebb/ops/elementwise/parts.h>
#include <ebb/ops/elementwise/special.h>
#include <ebb/ops/elementwise/unary.h>
