// The part of the CPU kernels that does not depend on the formula.
#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {
namespace detail {
namespace {

// Runs the kernel for any sizes and layouts.
template <int kCount>
[[gnu::noinline]] void map_rows(const FormulaRows& rows, NdArray& out, DType dtype,
                                const ops::Operand* const (&operands)[kCount],
                                std::uint64_t (&numbers)[kCount], Row row, const void* op) {
  NdArray held[kCount];
  const NdArray* arrays[kCount];
  for (int i = 0; i < kCount; ++i) {
    arrays[i] = operands[i]->array;
    if (arrays[i]) continue;
    const auto borrowed = Storage::adopt(&numbers[i], sizeof(numbers[i]), Device::CPU, nullptr, nullptr);
    held[i] = NdArray(borrowed, {}, {}, 0, rows.operand_dtype(i, dtype));
    arrays[i] = &held[i];
  }
  map(rows.name, out, arrays, kCount, row, op, rows);
}

}  // namespace

template <int kCount>
void run_rows(const FormulaRows& rows, NdArray& out, DType dtype,
              const ops::Operand* const (&operands)[kCount], const void* op) {
  const Row row = rows.rows[static_cast<int>(dtype)];
  if (!row) [[unlikely]]
    ebb::detail::unsupported_dtype(rows.name, dtype, "another dtype: this op is not defined for it");
  const std::int64_t n = out.numel();
  if (n == 0) return;  // kernels read their first element even for n = 0
  const void* in[kCount];
  std::uint64_t numbers[kCount];
  unsigned constant = 0;
  bool small = n <= rows.grain && out.is_contiguous();
  for (int i = 0; i < kCount; ++i) {
    if (const NdArray* x = operands[i]->array) {
      in[i] = x->address();
      if (x->numel() == 1 && n != 1)
        constant |= 1u << i;
      else
        small = small && x->is_contiguous() && x->numel() == n;
    } else {
      numbers[i] = element_bits(operands[i]->value, rows.operand_dtype(i, dtype));
      in[i] = &numbers[i];
      if (n != 1) constant |= 1u << i;
    }
  }
  if (small && (constant == 0 || rows.takes_constants)) [[likely]]
    return row(out.address(), in, constant, n, op);
  map_rows(rows, out, dtype, operands, numbers, row, op);
}

template void run_rows(const FormulaRows&, NdArray&, DType, const ops::Operand* const (&)[1], const void*);
template void run_rows(const FormulaRows&, NdArray&, DType, const ops::Operand* const (&)[2], const void*);
template void run_rows(const FormulaRows&, NdArray&, DType, const ops::Operand* const (&)[3], const void*);

}  // namespace detail

}  // namespace ebb::cpu
