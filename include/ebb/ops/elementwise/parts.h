// The parts of floating-point numbers, their neighbours, and questions that only complex numbers answer
// otherwise.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

/// (m, e) with x = m 2^e and 1/2 <= |m| < 1, e in Int; (x, 0) for 0, infinities and NaN. Floating dtypes
/// only; m is differentiable. (torch.frexp)
EBB_API std::tuple<Variable, Variable> frexp(const Variable& self);

/// The floating-point number next to self's in the direction of other's; other itself where they are equal.
/// Floating dtypes only. It moves with self, and not with other. (torch.nextafter)
EBB_API Variable nextafter(const Variable& self, const Variable& other);
EBB_API Variable& nextafter_(const Variable& self, const Variable& other);

/// True for every element, as Bool: all numbers here are real. (torch.isreal)
EBB_API Variable isreal(const Variable& self);
/// Whether self is a view that stands for its negative, as those of complex numbers' imaginary parts: never.
/// (torch.is_neg)
inline bool is_neg(const Variable&) { return false; }
/// self, as no tensor is_neg. (torch.resolve_neg)
inline Variable resolve_neg(const Variable& self) { return self; }

}  // namespace ebb
