// SymInt: sizes that may be symbolic in libtorch; here they are integers.
#pragma once

#include <ebb/core/array_ref.h>

#include <torch/csrc/namespaces.h>

#include <cstdint>

namespace c10 {

using SymInt = std::int64_t;
using SymIntArrayRef = IntArrayRef;

}  // namespace c10
