// torch.special, whole.
#pragma once

#include <ebb/ops/special/functions.h>
#include <ebb/ops/special/names.h>
#include <ebb/ops/special/polynomials.h>
