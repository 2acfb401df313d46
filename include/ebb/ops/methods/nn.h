// Methods of Variable declared by the nn family.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/options.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

namespace ebb::ops {

struct EBB_API NnMethods {};

}  // namespace ebb::ops
