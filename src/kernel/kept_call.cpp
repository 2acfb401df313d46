// Arrays of kept calls.
#include "kernel/kept_call.h"

namespace ebb::detail {

KeptArray::KeptArray(const NdArray& array) : array_(array) {}
KeptArray::KeptArray(const KeptArray&) = default;
KeptArray::~KeptArray() = default;

}  // namespace ebb::detail
