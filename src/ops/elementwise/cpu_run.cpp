// The part of the CPU kernels that does not depend on the formula.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/element_row.h"
#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {
namespace detail {
namespace {

// A number on the stack that looks like an array of one element.
struct Slot {
  alignas(8) char bytes[8];
  void put(const Scalar& value, DType dtype) {
    visit_all(dtype, "scalar", [&]<class T> {
      const T v = element<T>(value);
      std::memcpy(bytes, &v, sizeof(T));
    });
  }
};

// For those who run the row themselves.
void describe(ebb::detail::ElementRow& asked, Row row, DType dtype, const ops::Operand* const* operands,
              int count, const void* op, const RowTraits& traits) {
  asked = {row, nullptr, 0, op, traits.takes_constants, traits.grain, dtype, count, {}};
  for (int i = 0; i < count; ++i) {
    ebb::detail::ElementRow::Operand& operand = asked.operands[i];
    operand.array = operands[i]->array;
    operand.read_from = operands[i]->read_from;
    operand.dtype = dtype;
    if (operand.array) continue;
    Slot number{};
    number.put(operands[i]->value, dtype);
    std::memcpy(operand.number, number.bytes, sizeof(number.bytes));
  }
}

// Whatever the sizes and layouts.
template <int kCount>
[[gnu::noinline]] void map_rows(const char* name, NdArray& out, DType dtype,
                                const ops::Operand* const (&operands)[kCount], Slot (&numbers)[kCount],
                                Row row, const void* op, const RowTraits& traits) {
  NdArray held[kCount];
  const NdArray* arrays[kCount];
  for (int i = 0; i < kCount; ++i) {
    arrays[i] = operands[i]->array;
    if (arrays[i]) continue;
    const auto borrowed = Storage::adopt(numbers[i].bytes, 8, Device::CPU, nullptr, nullptr);
    held[i] = NdArray(borrowed, {}, {}, 0, dtype);
    arrays[i] = &held[i];
  }
  map(name, out, arrays, kCount, row, op, traits);
}

}  // namespace

template <int kCount>
void run_rows(const char* name, const std::array<Row, 10>& rows, NdArray& out, DType dtype,
              const ops::Operand* const (&operands)[kCount], const void* op, const RowTraits& traits) {
  const Row row = rows[static_cast<int>(dtype)];
  if (!row) [[unlikely]]
    ebb::detail::unsupported_dtype(name, dtype, "another dtype: this op is not defined for it");
  const std::int64_t n = out.numel();
  if (n == 0) {  // rows read their first element before they look at n
    if (ebb::detail::ElementRow* const asked = ebb::detail::asked_row())
      describe(*asked, row, dtype, operands, kCount, op, traits);
    return;
  }
  const void* in[kCount];
  Slot numbers[kCount];
  unsigned constant = 0;
  bool small = n <= traits.grain && out.is_contiguous();
  for (int i = 0; i < kCount; ++i) {
    if (const NdArray* x = operands[i]->array) {
      in[i] = x->address();
      if (x->numel() == 1 && n != 1)
        constant |= 1u << i;
      else
        small = small && x->is_contiguous() && x->numel() == n;
    } else {
      numbers[i].put(operands[i]->value, dtype);
      in[i] = numbers[i].bytes;
      if (n != 1) constant |= 1u << i;
    }
  }
  if (small && (constant == 0 || traits.takes_constants)) [[likely]]
    return row(out.address(), in, constant, n, op);
  map_rows(name, out, dtype, operands, numbers, row, op, traits);
}

template void run_rows(const char*, const std::array<Row, 10>&, NdArray&, DType,
                       const ops::Operand* const (&)[1], const void*, const RowTraits&);
template void run_rows(const char*, const std::array<Row, 10>&, NdArray&, DType,
                       const ops::Operand* const (&)[2], const void*, const RowTraits&);
template void run_rows(const char*, const std::array<Row, 10>&, NdArray&, DType,
                       const ops::Operand* const (&)[3], const void*, const RowTraits&);

}  // namespace detail

}  // namespace ebb::cpu
