// Tensor factories with dtype, layout, device and pinning as separate arguments, like ATen's functions:
// zeros({2, 3}, kFloat, kStrided, Device("cuda:0"), false). nullopt means the default.
#pragma once

#include <ebb/ops/creation/factories.h>
#include <ebb/ops/random.h>

namespace ebb {

namespace detail {
inline TensorOptions spread(optional<DType> dtype, optional<Layout> layout, optional<Device> device,
                            optional<bool> pin_memory) {
  return TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
}
}  // namespace detail

inline Variable empty(IntArrayRef size, optional<DType> dtype, optional<Layout> layout,
                      optional<Device> device, optional<bool> pin_memory,
                      optional<MemoryFormat> memory_format = nullopt) {
  return empty(size, detail::spread(dtype, layout, device, pin_memory), memory_format);
}
inline Variable empty_strided(IntArrayRef size, IntArrayRef stride, optional<DType> dtype,
                              optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return empty_strided(size, stride, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable empty_permuted(IntArrayRef size, IntArrayRef physical_layout, optional<DType> dtype,
                               optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return empty_permuted(size, physical_layout, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable zeros(IntArrayRef size, optional<DType> dtype, optional<Layout> layout,
                      optional<Device> device, optional<bool> pin_memory) {
  return zeros(size, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable ones(IntArrayRef size, optional<DType> dtype, optional<Layout> layout,
                     optional<Device> device, optional<bool> pin_memory) {
  return ones(size, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable full(IntArrayRef size, const Scalar& value, optional<DType> dtype, optional<Layout> layout,
                     optional<Device> device, optional<bool> pin_memory) {
  return full(size, value, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable scalar_tensor(const Scalar& value, optional<DType> dtype, optional<Layout> layout,
                              optional<Device> device, optional<bool> pin_memory) {
  return scalar_tensor(value, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable rand(IntArrayRef size, optional<DType> dtype, optional<Layout> layout,
                     optional<Device> device, optional<bool> pin_memory) {
  return rand(size, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable rand(IntArrayRef size, const optional<Generator>& generator, optional<DType> dtype,
                     optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return rand(size, generator, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable randn(IntArrayRef size, optional<DType> dtype, optional<Layout> layout,
                      optional<Device> device, optional<bool> pin_memory) {
  return randn(size, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable randn(IntArrayRef size, const optional<Generator>& generator, optional<DType> dtype,
                      optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return randn(size, generator, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable randint(std::int64_t high, IntArrayRef size, optional<DType> dtype, optional<Layout> layout,
                        optional<Device> device, optional<bool> pin_memory) {
  return randint(high, size, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable randint(std::int64_t low, std::int64_t high, IntArrayRef size, optional<DType> dtype,
                        optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return randint(low, high, size, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable randint(std::int64_t high, IntArrayRef size, const optional<Generator>& generator,
                        optional<DType> dtype, optional<Layout> layout, optional<Device> device,
                        optional<bool> pin_memory) {
  return randint(high, size, generator, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable randint(std::int64_t low, std::int64_t high, IntArrayRef size,
                        const optional<Generator>& generator, optional<DType> dtype, optional<Layout> layout,
                        optional<Device> device, optional<bool> pin_memory) {
  return randint(low, high, size, generator, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable randperm(std::int64_t n, optional<DType> dtype, optional<Layout> layout,
                         optional<Device> device, optional<bool> pin_memory) {
  return randperm(n, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable randperm(std::int64_t n, const optional<Generator>& generator, optional<DType> dtype,
                         optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return randperm(n, generator, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable normal(double mean, double std, IntArrayRef size, const optional<Generator>& generator,
                       optional<DType> dtype, optional<Layout> layout, optional<Device> device,
                       optional<bool> pin_memory) {
  return normal(mean, std, size, generator, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable arange(const Scalar& end, optional<DType> dtype, optional<Layout> layout,
                       optional<Device> device, optional<bool> pin_memory) {
  return arange(end, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable arange(const Scalar& start, const Scalar& end, optional<DType> dtype, optional<Layout> layout,
                       optional<Device> device, optional<bool> pin_memory) {
  return arange(start, end, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable arange(const Scalar& start, const Scalar& end, const Scalar& step, optional<DType> dtype,
                       optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return arange(start, end, step, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable range(const Scalar& start, const Scalar& end, optional<DType> dtype, optional<Layout> layout,
                      optional<Device> device, optional<bool> pin_memory) {
  return range(start, end, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable range(const Scalar& start, const Scalar& end, const Scalar& step, optional<DType> dtype,
                      optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return range(start, end, step, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable linspace(const Scalar& start, const Scalar& end, std::int64_t steps, optional<DType> dtype,
                         optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return linspace(start, end, steps, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable logspace(const Scalar& start, const Scalar& end, std::int64_t steps, double base,
                         optional<DType> dtype, optional<Layout> layout, optional<Device> device,
                         optional<bool> pin_memory) {
  return logspace(start, end, steps, base, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable eye(std::int64_t n, optional<DType> dtype, optional<Layout> layout, optional<Device> device,
                    optional<bool> pin_memory) {
  return eye(n, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable eye(std::int64_t n, std::int64_t m, optional<DType> dtype, optional<Layout> layout,
                    optional<Device> device, optional<bool> pin_memory) {
  return eye(n, m, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, optional<DType> dtype,
                             optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return tril_indices(row, col, offset, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, optional<DType> dtype,
                             optional<Layout> layout, optional<Device> device, optional<bool> pin_memory) {
  return triu_indices(row, col, offset, detail::spread(dtype, layout, device, pin_memory));
}
inline Variable empty_like(const Variable& x, optional<DType> dtype, optional<Layout> layout,
                           optional<Device> device, optional<bool> pin_memory,
                           optional<MemoryFormat> memory_format = nullopt) {
  return empty_like(x, detail::spread(dtype, layout, device, pin_memory), memory_format);
}
inline Variable zeros_like(const Variable& x, optional<DType> dtype, optional<Layout> layout,
                           optional<Device> device, optional<bool> pin_memory,
                           optional<MemoryFormat> memory_format = nullopt) {
  return zeros_like(x, detail::spread(dtype, layout, device, pin_memory), memory_format);
}
inline Variable ones_like(const Variable& x, optional<DType> dtype, optional<Layout> layout,
                          optional<Device> device, optional<bool> pin_memory,
                          optional<MemoryFormat> memory_format = nullopt) {
  return ones_like(x, detail::spread(dtype, layout, device, pin_memory), memory_format);
}
inline Variable rand_like(const Variable& x, optional<DType> dtype, optional<Layout> layout,
                          optional<Device> device, optional<bool> pin_memory,
                          optional<MemoryFormat> memory_format = nullopt) {
  return rand_like(x, detail::spread(dtype, layout, device, pin_memory), memory_format);
}
inline Variable randn_like(const Variable& x, optional<DType> dtype, optional<Layout> layout,
                           optional<Device> device, optional<bool> pin_memory,
                           optional<MemoryFormat> memory_format = nullopt) {
  return randn_like(x, detail::spread(dtype, layout, device, pin_memory), memory_format);
}
inline Variable full_like(const Variable& x, const Scalar& value, optional<DType> dtype,
                          optional<Layout> layout, optional<Device> device, optional<bool> pin_memory,
                          optional<MemoryFormat> memory_format = nullopt) {
  return full_like(x, value, detail::spread(dtype, layout, device, pin_memory), memory_format);
}
inline Variable randint_like(const Variable& x, std::int64_t high, optional<DType> dtype,
                             optional<Layout> layout, optional<Device> device, optional<bool> pin_memory,
                             optional<MemoryFormat> memory_format = nullopt) {
  return randint_like(x, high, detail::spread(dtype, layout, device, pin_memory), memory_format);
}
inline Variable randint_like(const Variable& x, std::int64_t low, std::int64_t high, optional<DType> dtype,
                             optional<Layout> layout, optional<Device> device, optional<bool> pin_memory,
                             optional<MemoryFormat> memory_format = nullopt) {
  return randint_like(x, low, high, detail::spread(dtype, layout, device, pin_memory), memory_format);
}

}  // namespace ebb
