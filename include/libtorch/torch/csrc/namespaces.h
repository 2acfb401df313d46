// The namespaces torch, at and c10, which are ebb's.
#pragma once

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
