// Methods of Variable of the softmax family; documented with the functions of the same names in
// ebb/ops/softmax.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/dtype.h>
#include <ebb/fwd.h>

#include <cstdint>

namespace ebb::ops {

struct EBB_API SoftmaxMethods {
  Variable softmax(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable log_softmax(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
};

}  // namespace ebb::ops
