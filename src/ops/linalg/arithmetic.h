// The elementwise ops that linear algebra's gradients use.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

EBB_API Variable add(const Variable& self, const Variable& other, const Scalar& alpha);
EBB_API Variable mul(const Variable& self, const Variable& other);
EBB_API Variable mul(const Variable& self, const Scalar& other);

}  // namespace ebb
