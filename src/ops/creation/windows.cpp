// bartlett_window, blackman_window, hamming_window and hann_window.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

namespace ebb {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Returns f(i, steps), where i is the tensor 0, 1, ..., n - 1 in double, and `steps` is n if `periodic`,
// otherwise n - 1.
template <class F>
Variable window(const char* op, std::int64_t n, bool periodic, const TensorOptions& options, F&& f) {
  EBB_CHECK(n >= 0, op, ": expected a window_length that is not negative, got ", n, ".");
  EBB_CHECK(is_floating(options.dtype()), op, ": expected a floating-point dtype, got ", options.dtype(),
            ".");
  const NoGradGuard no_grad;
  const TensorOptions plain = options.requires_grad(false);
  if (n <= 1) return ones({n}, options);
  const double steps = static_cast<double>(periodic ? n : n - 1);
  Variable out = f(arange(n, plain.dtype(kDouble)), steps).to(plain.dtype());
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

// Returns a - b cos(2 pi i / steps) + c cos(4 pi i / steps).
Variable cosines(const char* op, std::int64_t n, bool periodic, const TensorOptions& options, double a,
                 double b, double c) {
  return window(op, n, periodic, options, [&](const Variable& i, double steps) {
    const Variable angle = i * (2 * kPi / steps), out = a - cos(angle) * b;
    return c == 0 ? out : out + cos(angle * 2) * c;
  });
}

}  // namespace

Variable bartlett_window(std::int64_t n, const TensorOptions& options) {
  return bartlett_window(n, true, options);
}
Variable bartlett_window(std::int64_t n, bool periodic, const TensorOptions& options) {
  return window("bartlett_window", n, periodic, options,
                [](const Variable& i, double steps) { return 1 - abs(i * (2 / steps) - 1); });
}
Variable blackman_window(std::int64_t n, const TensorOptions& options) {
  return blackman_window(n, true, options);
}
Variable blackman_window(std::int64_t n, bool periodic, const TensorOptions& options) {
  return cosines("blackman_window", n, periodic, options, 0.42, 0.5, 0.08);
}
Variable hamming_window(std::int64_t n, const TensorOptions& options) {
  return hamming_window(n, true, options);
}
Variable hamming_window(std::int64_t n, bool periodic, const TensorOptions& options) {
  return hamming_window(n, periodic, 0.54, 0.46, options);
}
Variable hamming_window(std::int64_t n, bool periodic, double alpha, const TensorOptions& options) {
  return hamming_window(n, periodic, alpha, 0.46, options);
}
Variable hamming_window(std::int64_t n, bool periodic, double alpha, double beta,
                        const TensorOptions& options) {
  return cosines("hamming_window", n, periodic, options, alpha, beta, 0);
}
Variable hann_window(std::int64_t n, const TensorOptions& options) { return hann_window(n, true, options); }
Variable hann_window(std::int64_t n, bool periodic, const TensorOptions& options) {
  return cosines("hann_window", n, periodic, options, 0.5, 0.5, 0);
}
Variable kaiser_window(std::int64_t n, const TensorOptions& options) {
  return kaiser_window(n, true, options);
}
Variable kaiser_window(std::int64_t n, bool periodic, const TensorOptions& options) {
  return kaiser_window(n, periodic, 12, options);
}
Variable kaiser_window(std::int64_t n, bool periodic, double beta, const TensorOptions& options) {
  return window("kaiser_window", n, periodic, options, [&](const Variable& i, double steps) {
    const Variable height = sqrt((1 - square(i * (2 / steps) - 1)).clamp_min(0));
    return i0(height * beta) / i0(full({}, beta, i.options()));
  });
}

}  // namespace ebb
