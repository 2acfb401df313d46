// cumsum, cumprod and logcumsumexp.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/record.h"
#include "ops/reduce/cumulative.h"

#include <cmath>

namespace ebb {

namespace ops {
namespace {

// Since y[i] = logaddexp(y[i - 1], x[i]), a fraction sigmoid(x[i] - y[i - 1]) of its gradient goes to x[i],
// and the rest to y[i - 1]. No factor exceeds 1, and fractions add up to 1 even if y has lost digits of x. If
// both are -inf, x[i] takes everything.
struct LogcumsumexpBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  std::int64_t dim = 0;
  std::string name() const override { return "LogcumsumexpBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack(), y = result.unpack();
    const std::int64_t n = y.dim() == 0 ? 1 : y.size(dim);
    if (y.dim() == 0 || n < 2) return {std::move(grads[0])};
    const Variable before = y.narrow(dim, 0, n - 1), next = x.narrow(dim, 1, n - 1);
    const Variable nothing = before.eq(-INFINITY).logical_and(next.eq(-INFINITY));
    const Variable rise = (next - before).masked_fill(nothing, INFINITY);
    const Variable first = ones_like(x.narrow(dim, 0, 1));
    return {cat({first, rise.sigmoid()}, dim) * linear_recurrence(grads[0], rise.neg().sigmoid(), dim, true)};
  }
};

DType scan_dtype(const Variable& x, optional<ScalarType> dtype) {
  return dtype.value_or(is_integral(x.dtype(), true) ? kLong : x.dtype());
}

void check_same_type(const char* op, const Variable& self, optional<ScalarType> dtype) {
  EBB_CHECK(!dtype || *dtype == self.dtype(), op, ": Bad in-place call: the tensor is of dtype ",
            self.dtype(), " and the result of dtype ", dtype.value_or(self.dtype()),
            ". Use the form that returns a new tensor.");
}

}  // namespace

}  // namespace ops

Variable cumsum(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  EBB_AUTOCAST(cumsum, self, dim, dtype);
  return ops::cumulative_sum(self, wrap_dim("cumsum", dim, self.dim()), false, ops::scan_dtype(self, dtype));
}

Variable& cumsum_(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  const std::int64_t d = wrap_dim("cumsum_", dim, self.dim());
  ops::check_same_type("cumsum_", self, dtype);
  return ops::cumulative_sum_(self, "cumsum_", d);
}

Variable cumprod(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  EBB_AUTOCAST(cumprod, self, dim, dtype);
  return ops::cumulative_prod(self, wrap_dim("cumprod", dim, self.dim()), false,
                              ops::scan_dtype(self, dtype));
}

Variable& cumprod_(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  const std::int64_t d = wrap_dim("cumprod_", dim, self.dim());
  ops::check_same_type("cumprod_", self, dtype);
  return ops::cumulative_prod_(self, "cumprod_", d);
}

Variable logcumsumexp(const Variable& self, std::int64_t dim) {
  const std::int64_t d = wrap_dim("logcumsumexp", dim, self.dim());
  Variable result(ops::run_scan(self.array(), d, ScanKind::logsumexp, false));
  if (const auto node = ops::record_results<ops::LogcumsumexpBackward>({&result}, self)) {
    node->dim = d;
    node->self.save(self);
    node->result.save_output(result);
  }
  return result;
}

}  // namespace ebb
