// fft_fftfreq, fft_rfftfreq, fft_fftshift and fft_ifftshift.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"
#include "ops/common/views.h"

#include <numeric>

namespace ebb {
namespace {

Variable frequencies(const char* op, std::int64_t n, double d, Variable places,
                     const TensorOptions& options) {
  EBB_CHECK(is_floating(options.dtype()), op, ": expected a floating-point dtype, got ", options.dtype(),
            ".");
  const NoGradGuard no_grad;
  Variable out = (places * (1.0 / (static_cast<double>(n) * d))).to(options.dtype());
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

TensorOptions in_double(const TensorOptions& options) { return options.requires_grad(false).dtype(kDouble); }

Variable shifted(const char* op, const Variable& self, OptionalIntArrayRef dim, bool back) {
  ops::check_defined(op, self);
  DimVector dims(static_cast<std::size_t>(self.dim()), 0);
  std::iota(dims.begin(), dims.end(), 0);
  if (dim) dims = ops::distinct_dims(op, *dim, self.dim());
  DimVector by;
  for (const std::int64_t d : dims) by.push_back((self.size(d) + (back ? 1 : 0)) / 2);
  return dims.empty() ? self.clone() : roll(self, by, dims);
}

}  // namespace

Variable fft_fftfreq(std::int64_t n, double d, const TensorOptions& options) {
  EBB_CHECK(n >= 0, "fft_fftfreq: expected n that is not negative, got ", n, ".");
  const std::int64_t positive = (n + 1) / 2;
  const Variable up = arange(positive, in_double(options)), down = arange(-(n / 2), 0, in_double(options));
  return frequencies("fft_fftfreq", n, d, cat({up, down}), options);
}
Variable fft_rfftfreq(std::int64_t n, double d, const TensorOptions& options) {
  EBB_CHECK(n >= 0, "fft_rfftfreq: expected n that is not negative, got ", n, ".");
  return frequencies("fft_rfftfreq", n, d, arange(n / 2 + 1, in_double(options)), options);
}
Variable fft_fftshift(const Variable& self, OptionalIntArrayRef dim) {
  return shifted("fft_fftshift", self, dim, false);
}
Variable fft_ifftshift(const Variable& self, OptionalIntArrayRef dim) {
  return shifted("fft_ifftshift", self, dim, true);
}

}  // namespace ebb
