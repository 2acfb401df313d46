// Numbers as CUDA kernels take them, the bytes of one element, and formulas for those who fuse them.
#include "ops/elementwise/cuda.h"

#include <ebb/core/visit.h>

#include <cstring>

#include "kernel/convert.h"
#include "kernel/element_row.h"

namespace ebb::cuda {

std::uint64_t element_bits(const Scalar& value, DType dtype) {
  return visit_all(dtype, "scalar", [&]<class T> {
    const T number = element<T>(value);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(T));
    return bits;
  });
}

void describe_formula(const std::type_info& type, const void* formula, std::size_t bytes, DType dtype,
                      std::initializer_list<TypedOperand> operands) {
  ebb::detail::ElementRow* const asked = ebb::detail::asked_row();
  if (!asked) return;
  *asked = {};
  asked->type = &type;
  asked->formula = formula;
  asked->formula_bytes = bytes;
  asked->dtype = dtype;
  for (const TypedOperand& each : operands) {
    ebb::detail::ElementRow::Operand& operand = asked->operands[asked->count++];
    operand.array = each.operand.array;
    operand.read_from = each.operand.read_from;
    operand.dtype = each.dtype;
    if (operand.array) continue;
    const std::uint64_t bits = element_bits(each.operand.value, each.dtype);
    std::memcpy(operand.number, &bits, sizeof(bits));
  }
}

}  // namespace ebb::cuda
