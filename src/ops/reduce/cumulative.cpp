// cumsum, cumprod and logcumsumexp, with their gradients.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/reduce/common.h"

#include <cmath>

namespace ebb {
namespace ops {

NdArray run_scan(const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse) {
  const NdArray in = contiguous_array(x);
  NdArray out = NdArray::empty(in.sizes(), in.dtype(), in.device());
  kernels::scan(in.device(), out, in, dim, kind, reverse);
  return out;
}

namespace {

struct CumsumBackward : autograd::Node {
  std::int64_t dim = 0;
  bool reverse = false;
  std::string name() const override { return "CumsumBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    return {cumulative_sum(grads[0], dim, !reverse)};
  }
};

// The gradient of x[i] is (product before i) * S[i], with S[i] = g[i] + x[i + 1] S[i + 1]. There is no
// division, so zeros are exact. Every part is differentiable.
struct CumprodBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  std::int64_t dim = 0;
  bool reverse = false;
  std::string name() const override { return "CumprodBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable y = result.unpack(), x = self.unpack().to(y.dtype());
    const std::int64_t n = y.dim() == 0 ? 1 : y.size(dim);
    if (y.dim() == 0 || n < 2) return {std::move(grads[0])};
    const Variable links = x.narrow(dim, reverse ? 0 : 1, n - 1);
    return {exclusive_prod(y, dim, reverse) * linear_recurrence(grads[0], links, dim, !reverse)};
  }
};

template <class N>
auto along(std::int64_t dim, bool reverse) {
  return [=](N& node) {
    node.dim = dim;
    node.reverse = reverse;
  };
}

// Scans x in `dtype`. If x must be converted, the scan overwrites the converted copy.
NdArray run_scan_in(const Variable& x, DType dtype, std::int64_t dim, ScanKind kind, bool reverse) {
  if (dtype == DType::Undefined || dtype == x.dtype()) return run_scan(x.array(), dim, kind, reverse);
  NdArray out = cast_array(x.array(), dtype);
  kernels::scan(out.device(), out, out, dim, kind, reverse);
  return out;
}

}  // namespace

Variable cumulative_sum(const Variable& x, std::int64_t dim, bool reverse, DType dtype) {
  return record<CumsumBackward>(run_scan_in(x, dtype, dim, ScanKind::sum, reverse),
                                along<CumsumBackward>(dim, reverse), x);
}

Variable cumulative_prod(const Variable& x, std::int64_t dim, bool reverse, DType dtype) {
  Variable result(run_scan_in(x, dtype, dim, ScanKind::prod, reverse));
  if (const auto node = record_results<CumprodBackward>({&result}, x)) {
    node->dim = dim;
    node->reverse = reverse;
    node->self.save(x);
    node->result.save_output(result);
  }
  return result;
}

Variable& cumulative_sum_(const Variable& self, const char* op, std::int64_t dim) {
  return record_inplace<CumsumBackward>(
      self, op, [&](NdArray& to) { kernels::copy(to.device(), to, run_scan(to, dim, ScanKind::sum, false)); },
      along<CumsumBackward>(dim, false));
}

Variable& cumulative_prod_(const Variable& self, const char* op, std::int64_t dim) {
  CumprodBackward* node = nullptr;  // the graph of self owns it after record_inplace()
  Variable& result = record_inplace<CumprodBackward>(
      self, op,
      [&](NdArray& to) { kernels::copy(to.device(), to, run_scan(to, dim, ScanKind::prod, false)); },
      [&](CumprodBackward& n) {
        node = &n;
        n.dim = dim;
        n.self.save(autograd::clone_for_saving(self));
      });
  if (node) node->result.save_output(self);
  return result;
}

Variable exclusive_prod(const Variable& running, std::int64_t dim, bool reverse) {
  const std::int64_t n = running.size(dim);
  const Variable one = ones_like(running.narrow(dim, 0, 1).detach());
  if (reverse) return cat({running.narrow(dim, 1, n - 1), one}, dim);
  return cat({one, running.narrow(dim, 0, n - 1)}, dim);
}

namespace {

// y[i] = logaddexp(y[i - 1], x[i]), so a fraction sigmoid(x[i] - y[i - 1]) of the gradient of y[i] goes to
// x[i], and the rest to y[i - 1]. No factor exceeds 1, and fractions add up to 1 even if y has lost digits of
// x. If both are -inf, all of the gradient goes to x[i].
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
