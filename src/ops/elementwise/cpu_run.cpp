#include <ebb/core/visit.h>

#include "ops/elementwise/cpu_rows.h"

namespace ebb::cpu {
namespace detail {
namespace {

// A number on the stack that looks like an array of one element.
struct Slot {
  alignas(8) char bytes[8];
  void put(const Scalar& value, DType dtype) {
    visit_all(dtype, "scalar", [&]<class T> {
      const T v = value.to<T>();
      std::memcpy(bytes, &v, sizeof(T));
    });
  }
};

}  // namespace

void run_rows(const char* name, const std::array<Row, 10>& rows, NdArray& out, DType dtype,
              const ops::Operand* const* operands, int count, const void* op, RowTraits traits) {
  const Row row = rows[static_cast<int>(dtype)];
  if (!row) [[unlikely]]
    ebb::detail::unsupported_dtype(name, dtype, "another dtype: this op is not defined for it");
  const std::int64_t n = out.numel();
  const void* in[kMaxMapInputs];
  Slot slots[kMaxMapInputs];
  unsigned constant = 0;
  bool small = n <= traits.grain && out.is_contiguous();
  for (int i = 0; i < count; ++i) {
    if (const NdArray* x = operands[i]->array) {
      in[i] = x->data();
      if (x->numel() == 1 && n != 1) constant |= 1u << i;
      else small = small && x->is_contiguous() && x->numel() == n;
    } else {
      slots[i].put(operands[i]->value, dtype);
      in[i] = slots[i].bytes;
      if (n != 1) constant |= 1u << i;
    }
  }
  if (small && (constant == 0 || traits.takes_constants)) [[likely]]
    return row(out.data(), in, constant, n, op);

  NdArray numbers[kMaxMapInputs];
  const NdArray* arrays[kMaxMapInputs];
  for (int i = 0; i < count; ++i) {
    arrays[i] = operands[i]->array;
    if (arrays[i]) continue;
    const auto borrowed = Storage::adopt(slots[i].bytes, 8, Device::CPU, nullptr, nullptr);
    numbers[i] = NdArray(borrowed, {}, {}, 0, dtype);
    arrays[i] = &numbers[i];
  }
  map(name, out, arrays, count, row, op, traits);
}

}  // namespace detail

namespace {

template <class To, class From>
void convert_row(void* to, const void* const* in, unsigned constant, std::int64_t n, const void*) {
  To* out = static_cast<To*>(to);
  const From* x = static_cast<const From*>(in[0]);
  const auto one = [](From v) {
    if constexpr (std::is_same_v<To, bool>) return v != From(0);
    else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) return To(static_cast<float>(v));
    else if constexpr (std::is_floating_point_v<ops::Compute<From>> && std::is_integral_v<To> && sizeof(To) < 8)
      return static_cast<To>(static_cast<std::int64_t>(static_cast<ops::Compute<From>>(v)));  // wraps
    else return static_cast<To>(static_cast<ops::Compute<From>>(v));
  };
  const std::int64_t step = constant ? 0 : 1;
  if (step) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) out[i] = one(x[i]);
  } else {
    const To value = one(x[0]);
    for (std::int64_t i = 0; i < n; ++i) out[i] = value;
  }
}

}  // namespace

void convert(NdArray& out, const NdArray& x) {
  const Row row = visit_all(out.dtype(), "to", [&]<class To> {
    return visit_all(x.dtype(), "to", []<class From>() -> Row { return &convert_row<To, From>; });
  });
  const NdArray* in[] = {&x};
  map("to", out, in, 1, row, nullptr);
}

}  // namespace ebb::cpu
