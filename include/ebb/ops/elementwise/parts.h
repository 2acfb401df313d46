// frexp, nextafter, and predicates that are only of interest for complex numbers (isreal, is_neg).
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

/// Returns (m, e) with x = m 2^e and 1/2 <= |m| < 1, where e is Int. Returns (x, 0) for 0, infinities and
/// NaN. Floating dtypes only; m is differentiable. (torch.frexp)
EBB_API std::tuple<Variable, Variable> frexp(const Variable& self);

/// The next floating-point number after self in the direction of other. If both are equal, it is other.
/// Floating dtypes only. The gradient goes to self, not to other. (torch.nextafter)
EBB_API Variable nextafter(const Variable& self, const Variable& other);
EBB_API Variable& nextafter_(const Variable& self, const Variable& other);

/// True for every element, as Bool, because all dtypes are real. (torch.isreal)
EBB_API Variable isreal(const Variable& self);
/// Returns false: a lazily negated view only exists for complex numbers. (torch.is_neg)
inline bool is_neg(const Variable&) { return false; }
/// Returns self, because is_neg is false for every tensor. (torch.resolve_neg)
inline Variable resolve_neg(const Variable& self) { return self; }

}  // namespace ebb
