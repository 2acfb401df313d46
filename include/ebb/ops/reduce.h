// Reductions: many elements into one. Without a dim, or with an empty list, all elements; keepdim leaves 1 in the
// places of the reduced dimensions. A dim out of range is an IndexError, one named twice an Error.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// The sum. Integers and bool add up in Long; a dtype converts the elements first. 0 over nothing. Float sums are
/// pairwise; 16-bit types add up in float. (torch.sum)
EBB_API Variable sum(const Variable& self, optional<ScalarType> dtype = nullopt);
EBB_API Variable sum(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false,
                     optional<ScalarType> dtype = nullopt);

/// The sum divided by the number of elements; NaN over nothing. Integers throw unless a floating dtype is given.
/// (torch.mean)
EBB_API Variable mean(const Variable& self, optional<ScalarType> dtype = nullopt);
EBB_API Variable mean(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false,
                      optional<ScalarType> dtype = nullopt);

// Methods of Variable: each is the function above with the tensor as its first argument.

inline Variable ops::ReduceMethods::sum(optional<ScalarType> dtype) const {
  return ebb::sum(static_cast<const Variable&>(*this), dtype);
}
inline Variable ops::ReduceMethods::sum(OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) const {
  return ebb::sum(static_cast<const Variable&>(*this), dim, keepdim, dtype);
}
inline Variable ops::ReduceMethods::mean(optional<ScalarType> dtype) const {
  return ebb::mean(static_cast<const Variable&>(*this), dtype);
}
inline Variable ops::ReduceMethods::mean(OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) const {
  return ebb::mean(static_cast<const Variable&>(*this), dim, keepdim, dtype);
}

}  // namespace ebb
