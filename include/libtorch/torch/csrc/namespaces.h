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
}

namespace ebb::nn::detail {

EBB_API void set_printed_namespace(const char* name) noexcept;

/// Names of modules begin with "torch", as programs written for libtorch expect.
inline const bool names_begin_with_torch = (set_printed_namespace("torch"), true);

}  // namespace ebb::nn::detail
