// What kept calls share.
#include "kernel/kept_call.h"

#include "kernel/element_sum.h"

namespace ebb::detail {

KeptArray::KeptArray(const NdArray& array) : array_(array) {}
KeptArray::KeptArray(const KeptArray&) = default;
KeptArray::~KeptArray() = default;

ElementRow*& asked_row() noexcept {
  static thread_local ElementRow* row = nullptr;
  return row;
}

ElementSum*& asked_sum() noexcept {
  static thread_local ElementSum* sum = nullptr;
  return sum;
}

}  // namespace ebb::detail
