// arange, range, linspace, logspace, eye, tril_indices and triu_indices.
#include <ebb/ops/creation.h>

#include "core/recorder.h"
#include "ops/common/arrays.h"
#include "ops/common/factories.h"
#include "ops/creation/kernels.h"

#include <algorithm>
#include <cmath>

namespace ebb {

namespace {

void check_range(const char* op, const Scalar& start, const Scalar& end, const Scalar& step) {
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  EBB_CHECK(s != 0, op, ": step must be nonzero.");
  EBB_CHECK(std::isfinite(a) && std::isfinite(b), op, ": unsupported range: ", start, " -> ", end, ".");
  EBB_CHECK((s > 0 && b >= a) || (s < 0 && b <= a), op,
            ": upper bound and lower bound inconsistent with step sign (start ", start, ", end ", end,
            ", step ", step, ").");
}

std::int64_t whole_number(const char* what, const Scalar& value) {
  const bool fits =
      !value.is_floating_point() || (value.to_double() >= -9.2e18 && value.to_double() <= 9.2e18);
  EBB_CHECK(fits, "arange: ", what, " ", value, " does not fit into an integer. Use a floating dtype.");
  return value.to_long();
}

Variable ramp(const char* op, double count, const Scalar& start, const Scalar& step,
              const TensorOptions& options) {
  EBB_CHECK(count >= 0 && count < 4.6e18, op, ": ", count, " elements are more than memory can address.");
  NdArray data = ops::fresh_array(op, {static_cast<std::int64_t>(count)}, options);
  kernels::arange(data.device(), data, start, step);
  return ops::finish(std::move(data), options);
}

Variable spaced(const char* op, const Scalar& start, const Scalar& end, std::int64_t steps, double base,
                const TensorOptions& options) {
  EBB_CHECK(steps >= 0, op, ": number of steps must be non-negative, got ", steps, ".");
  NdArray data = ops::fresh_array(op, {steps}, options);
  kernels::linspace(data.device(), data, start, end, base);
  return ops::finish(std::move(data), options);
}

Scalar end_of(const char* op, const Variable& x) {
  EBB_CHECK(x.defined() && x.dim() == 0, op,
            ": only supports 0-dimensional start and end tensors, got shape ",
            x.defined() ? x.sizes() : IntArrayRef(), ". Give numbers, or tensors of no dimensions.");
  return x.detach().item();
}

Variable triangle_indices(const char* op, std::int64_t rows, std::int64_t columns, std::int64_t offset,
                          bool lower, const TensorOptions& options) {
  EBB_CHECK(rows >= 0 && columns >= 0, op, ": rows and columns must be at least 0, got ", rows, " and ",
            columns, ".");
  offset = std::clamp(offset, -rows, columns);  // with larger offsets the triangle is also full or empty
  const auto first = [&](std::int64_t r) { return lower ? 0 : std::max<std::int64_t>(r + offset, 0); };
  const auto last = [&](std::int64_t r) { return lower ? std::min(r + offset + 1, columns) : columns; };
  // [top, bottom) are the rows that have elements in the triangle.
  const std::int64_t top = lower ? std::max<std::int64_t>(-offset, 0) : 0,
                     bottom = columns == 0 ? top
                              : lower      ? rows
                                           : std::min(rows, columns - offset);
  std::int64_t count = 0;
  for (std::int64_t r = top; r < bottom; ++r) count += last(r) - first(r);
  NdArray pairs = NdArray::empty({2, count}, kLong);
  detail::host_access(pairs);
  std::int64_t* out = pairs.address_as<std::int64_t>();
  for (std::int64_t r = top; r < bottom; ++r)
    for (std::int64_t c = first(r); c < last(r); ++c, ++out) out[0] = r, out[count] = c;
  NdArray data = ops::fresh_array(op, {2, count}, options.dtype(options.dtype_or(kLong)));
  ops::copy_constant(data, pairs);
  return ops::finish(std::move(data), options);
}

}  // namespace

Variable arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
  check_range("arange", start, end, step);
  const bool whole = start.is_integral(true) && end.is_integral(true) && step.is_integral(true);
  const TensorOptions typed = options.dtype(options.dtype_or(whole ? kLong : get_default_dtype()));
  double count;
  if (typed.dtype() == kLong) {
    const std::int64_t a = whole_number("start", start), b = whole_number("end", end),
                       s = whole_number("step", step);
    EBB_CHECK(s != 0, "arange: step ", step, " becomes 0 as an integer. Use a floating dtype.");
    EBB_CHECK((s > 0) == (b >= a) || a == b,
              "arange: upper bound and lower bound inconsistent with step sign.");
    // The distance of two 64-bit integers may be larger than the largest signed integer, and so may the
    // magnitude of the step. Both are therefore unsigned.
    const auto distance = s > 0 ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
                                : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
    const auto stride = s > 0 ? static_cast<std::uint64_t>(s) : -static_cast<std::uint64_t>(s);
    const std::uint64_t steps = distance / stride + (distance % stride != 0);
    count = static_cast<double>(steps);
  } else {
    count = std::ceil((end.to_double() - start.to_double()) / step.to_double());
  }
  return ramp("arange", count, start, step, typed);
}
Variable arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}
Variable arange(const Scalar& end, const TensorOptions& options) { return arange(0, end, 1, options); }

Variable range(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
  check_range("range", start, end, step);
  const double count = std::floor((end.to_double() - start.to_double()) / step.to_double()) + 1;
  return ramp("range", count, start, step, options);
}
Variable range(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return range(start, end, 1, options);
}

Variable linspace(const Scalar& start, const Scalar& end, std::int64_t steps, const TensorOptions& options) {
  return spaced("linspace", start, end, steps, 0, options);
}
Variable logspace(const Scalar& start, const Scalar& end, std::int64_t steps, double base,
                  const TensorOptions& options) {
  EBB_CHECK(base != 0, "logspace: base must not be 0.");
  return spaced("logspace", start, end, steps, base, options);
}

Variable linspace(const Variable& start, const Variable& end, std::int64_t steps,
                  const TensorOptions& options) {
  return linspace(end_of("linspace", start), end_of("linspace", end), steps, options);
}
Variable linspace(const Variable& start, const Scalar& end, std::int64_t steps,
                  const TensorOptions& options) {
  return linspace(end_of("linspace", start), end, steps, options);
}
Variable linspace(const Scalar& start, const Variable& end, std::int64_t steps,
                  const TensorOptions& options) {
  return linspace(start, end_of("linspace", end), steps, options);
}
Variable logspace(const Variable& start, const Variable& end, std::int64_t steps, double base,
                  const TensorOptions& options) {
  return logspace(end_of("logspace", start), end_of("logspace", end), steps, base, options);
}
Variable logspace(const Variable& start, const Scalar& end, std::int64_t steps, double base,
                  const TensorOptions& options) {
  return logspace(end_of("logspace", start), end, steps, base, options);
}
Variable logspace(const Scalar& start, const Variable& end, std::int64_t steps, double base,
                  const TensorOptions& options) {
  return logspace(start, end_of("logspace", end), steps, base, options);
}

Variable eye(std::int64_t n, const TensorOptions& options) { return eye(n, n, options); }
Variable eye(std::int64_t n, std::int64_t m, const TensorOptions& options) {
  EBB_CHECK(n >= 0 && m >= 0, "eye: rows and columns must be at least 0, got ", n, " and ", m, ".");
  Variable out = zeros({n, m}, options.requires_grad(false));
  NdArray data = out.array();
  kernels::eye(data.device(), data);
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

Variable tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset,
                      const TensorOptions& options) {
  return triangle_indices("tril_indices", rows, columns, offset, true, options);
}
Variable triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset,
                      const TensorOptions& options) {
  return triangle_indices("triu_indices", rows, columns, offset, false, options);
}

}  // namespace ebb
