// Argument checks that all families of ops share.
#include "ops/common/checks.h"

#include <ebb/core/visit.h>

#include "kernel/call/kept_call.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ebb::ops {
namespace {

template <class T>
bool fits(const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  if (value.is_floating_point()) {
    // The range excludes 2^63: double represents it exactly, but it is larger than the largest int64.
    const double v = value.to_double(), end = std::ldexp(1.0, Limits::digits);
    return v >= static_cast<double>(Limits::min()) && v < end;
  }
  const std::int64_t v = value.to_long();
  // An unsigned type with the largest value max also accepts -max to -1, which wrap, as in torch.
  if constexpr (std::is_signed_v<T>)
    return v >= Limits::min() && v <= Limits::max();
  else
    return v <= Limits::max() && v >= -std::int64_t{Limits::max()};
}

class KeptCheck final : public detail::KeptCall {
 public:
  KeptCheck(const char* op, NdArray array, std::function<void(const NdArray&)> check)
      : KeptCall(op), array_(std::move(array)), check_(std::move(check)) {}
  void run() override { check_(array_); }
  void visit(detail::ArgumentVisitor& v) override {
    v.written = false;
    v.array(array_);
  }

 private:
  NdArray array_;
  std::function<void(const NdArray&)> check_;
};

}  // namespace

void check_values(const char* op, const Variable& x, std::function<void(const NdArray&)> check) {
  const NdArray here = x.detach().cpu().contiguous().array();
  detail::Recorder* const recorder = detail::recorder();
  if (!recorder) return check(here);
  auto kept = std::make_unique<KeptCheck>(op, here, check);
  recorder->begin(*kept);
  check(here);
  KeptCheck after(op, here, nullptr);
  recorder->end(std::move(kept), after);
}

void check_true(const char* op, const Variable& truth, const char* message) {
  check_values(op, truth, [op, message](const NdArray& x) {
    const auto* const at = x.address_as<bool>();
    EBB_CHECK(std::all_of(at, at + x.numel(), [](bool each) { return each; }), op, ": ", message);
  });
}

double largest_of(DType dtype) {
  return dtype == kHalf       ? 65504
         : dtype == kBFloat16 ? 0x1.fep127
         : dtype == kFloat    ? std::numeric_limits<float>::max()
                              : std::numeric_limits<double>::max();
}

void check_fits(const char* op, const Scalar& value, DType dtype) {
  const auto fail_unless = [&](bool held) {
    EBB_CHECK(held, op, ": the value ", value, " cannot be converted to ", dtype,
              " without overflow. Use a wider dtype.");
  };
  if (is_floating(dtype)) {
    const double v = value.to_double();
    return fail_unless(!std::isfinite(v) || std::abs(v) <= largest_of(dtype));
  }
  if (!is_integral(dtype)) return;
  visit_integral(dtype, op, [&]<class T> { fail_unless(fits<T>(value)); });
}

}  // namespace ebb::ops
