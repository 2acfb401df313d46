// Common code of recorded calls, and default implementations of ArgumentVisitor.
#include "kernel/call/kept_call.h"

#include <cstring>

namespace ebb::detail {

void ArgumentVisitor::number(const void* value, std::size_t bytes, const std::type_info&) {
  plain(value, bytes);
}

void ArgumentVisitor::scalar(const Scalar& value) {
  const bool kinds[2] = {value.is_floating_point(), value.is_boolean()};
  plain(kinds, sizeof(kinds));
  const double real = kinds[0] ? value.to<double>() : 0;
  const std::int64_t whole = kinds[0] ? 0 : value.to<std::int64_t>();
  plain(&real, sizeof(real));
  plain(&whole, sizeof(whole));
}

void ArgumentVisitor::text(const char* value) { plain(value, std::strlen(value)); }
void ArgumentVisitor::open(Group, const std::type_info&) {}
void ArgumentVisitor::close() {}

KeptArray::KeptArray(const NdArray& array) : array_(array) {}
KeptArray::KeptArray(const KeptArray&) = default;
KeptArray::~KeptArray() = default;

void ElementRow::add(const Operand& operand) {
  if (!operand.array) {
    const std::uint64_t bits = element_bits(operand.value, operand_dtype(count));
    std::memcpy(numbers[count], &bits, sizeof(bits));
  }
  operands[count++] = operand;
}

}  // namespace ebb::detail
