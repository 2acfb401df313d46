// The namespaces torch, at and c10, which refer to ebb.
#pragma once

#include <ebb/core/api.h>

// `torch` is a macro, because programs reopen torch's namespaces and specialize templates in them, for
// example transforms::Stack for their own type of examples. Namespace aliases and using-directives do not
// allow this.
#define torch ebb

namespace c10 {}
namespace at {}

namespace ebb {
using namespace c10;
using namespace at;
}  // namespace ebb

namespace c10 {
using namespace ebb;
}

namespace at {
using namespace ebb;
// Ops can also be called in this namespace.
namespace native {
using namespace ebb;
}
}  // namespace at

namespace ebb::nn::detail {
EBB_API void set_printed_namespace(const char* name) noexcept;
}
namespace ebb::detail {

EBB_API void set_printed_in_columns(bool on) noexcept;

/// Module names begin with "torch", and tensors are printed in libtorch's format, as programs written for
/// libtorch expect.
inline const bool printed_as_in_libtorch =
    (nn::detail::set_printed_namespace("torch"), set_printed_in_columns(true), true);

}  // namespace ebb::detail
