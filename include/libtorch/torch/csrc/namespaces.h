// The namespaces torch, at and c10, which are ebb's.
#pragma once

#include <ebb/core/api.h>

// A macro, because programs reopen torch's namespaces and specialise templates there, as they must for a
// transforms::Stack of examples of their own. Neither an alias of a namespace nor a using-directive allows
// that.
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
// Ops are called by this name, too.
namespace native {
using namespace ebb;
}
}  // namespace at

namespace ebb::nn::detail {
EBB_API void set_printed_namespace(const char* name) noexcept;
}
namespace ebb::detail {

EBB_API void set_printed_in_columns(bool on) noexcept;

/// Names of modules begin with "torch", and tensors are printed as libtorch has them, as programs written for
/// it expect.
inline const bool printed_as_in_libtorch =
    (nn::detail::set_printed_namespace("torch"), set_printed_in_columns(true), true);

}  // namespace ebb::detail
