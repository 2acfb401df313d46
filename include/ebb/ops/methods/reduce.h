// Methods of Variable declared by the reduce, softmax, scan and sort families; documented in their headers.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/options.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <tuple>

namespace ebb::ops {

struct EBB_API ReduceMethods {
  Variable sum(optional<ScalarType> dtype = nullopt) const;
  Variable sum(OptionalIntArrayRef dim, bool keepdim = false, optional<ScalarType> dtype = nullopt) const;
  Variable mean(optional<ScalarType> dtype = nullopt) const;
  Variable mean(OptionalIntArrayRef dim, bool keepdim = false, optional<ScalarType> dtype = nullopt) const;
};

}  // namespace ebb::ops
