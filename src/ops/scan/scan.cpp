// cumsum, cumprod and logcumsumexp.
#include "ops/scan/scan.h"
#include "ops/common.h"
#include "ops/copy/kernels.h"
#include "ops/reduce/dims.h"

#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/scan.h>
#include <ebb/ops/shape.h>

namespace ebb {

namespace kernels {
constinit KernelSlot<void(NdArray& out, const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse)>
    scan{"scan", &cpu::scan};
}  // namespace kernels

namespace ops {
namespace {

NdArray run_scan(const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse) {
  const NdArray in = packed(x);
  NdArray out = NdArray::empty(in.sizes(), in.dtype(), in.device());
  kernels::scan(in.device(), out, in, dim, kind, reverse);
  return out;
}

struct CumsumBackward : autograd::Node {
  std::int64_t dim = 0;
  bool reverse = false;
  std::string name() const override { return "CumsumBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    return {running_sum(grads[0], dim, !reverse)};
  }
};

// d/dx[i] = (product before i) * S[i], where S[i] = g[i] + x[i + 1] S[i + 1] gathers what follows: no
// division, so zeros do no harm, and every part is differentiable.
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

// d/dx[i] = exp(x[i] - y[i]) * T[i], where T[i] = g[i] + exp(y[i] - y[i + 1]) T[i + 1]: no factor exceeds 1.
struct LogcumsumexpBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  std::int64_t dim = 0;
  std::string name() const override { return "LogcumsumexpBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable y = result.unpack(), x = self.unpack();
    const std::int64_t n = y.dim() == 0 ? 1 : y.size(dim);
    if (y.dim() == 0 || n < 2) return {std::move(grads[0])};
    const Variable links = (y.narrow(dim, 0, n - 1) - y.narrow(dim, 1, n - 1)).exp();
    return {(x - y).exp() * linear_recurrence(grads[0], links, dim, true)};
  }
};

template <class N>
void save_for_products(N& node, const Variable& self, const Variable& result) {
  node.self.save(self);
  node.result.save_output(result);
}

DType scan_dtype(const Variable& x, optional<ScalarType> dtype) {
  return dtype.value_or(is_integral(x.dtype(), true) ? kLong : x.dtype());
}

Variable cumprod_of(const Variable& x, std::int64_t dim, DType dtype, bool reverse) {
  Variable result(run_scan(cast(x.array(), dtype), dim, ScanKind::prod, reverse));
  if (autograd::records(x)) {
    const auto node = autograd::make_node<CumprodBackward>(x);
    node->dim = dim;
    node->reverse = reverse;
    autograd::set_history(result, node);
    save_for_products(*node, x, result);
  }
  return result;
}

Variable cumsum_of(const Variable& x, std::int64_t dim, DType dtype, bool reverse) {
  Variable result(run_scan(cast(x.array(), dtype), dim, ScanKind::sum, reverse));
  if (autograd::records(x)) {
    const auto node = autograd::make_node<CumsumBackward>(x);
    node->dim = dim;
    node->reverse = reverse;
    autograd::set_history(result, node);
  }
  return result;
}

void check_same_type(const char* op, const Variable& self, optional<ScalarType> dtype) {
  EBB_CHECK(!dtype || *dtype == self.dtype(), op, ": Bad in-place call: the tensor is of dtype ",
            self.dtype(), " and the result of dtype ", dtype.value_or(self.dtype()),
            ". Use the form that returns a new tensor.");
}

void write_inplace(const Variable& self, const NdArray& result) {
  NdArray to = self.array();
  kernels::copy(to.device(), to, result);
  autograd::bump_version(self);
}

}  // namespace

Variable running_sum(const Variable& x, std::int64_t dim, bool reverse) {
  return cumsum_of(x, dim, x.dtype(), reverse);
}
Variable running_prod(const Variable& x, std::int64_t dim, bool reverse) {
  return cumprod_of(x, dim, x.dtype(), reverse);
}
Variable exclusive_prod(const Variable& running, std::int64_t dim, bool reverse) {
  const std::int64_t n = running.size(dim);
  const Variable one = ones_like(running.narrow(dim, 0, 1).detach());
  if (reverse) return cat({running.narrow(dim, 1, n - 1), one}, dim);
  return cat({one, running.narrow(dim, 0, n - 1)}, dim);
}

}  // namespace ops

Variable cumsum(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  return ops::cumsum_of(self, wrap_dim("cumsum", dim, self.dim()), ops::scan_dtype(self, dtype), false);
}

Variable& cumsum_(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  const std::int64_t d = wrap_dim("cumsum_", dim, self.dim());
  ops::check_same_type("cumsum_", self, dtype);
  autograd::check_inplace(self, "cumsum_");
  Ref<ops::CumsumBackward> node;
  if (autograd::records(self)) {
    node = autograd::make_node<ops::CumsumBackward>(self);
    node->dim = d;
  }
  ops::write_inplace(self, ops::run_scan(self.array(), d, ScanKind::sum, false));
  autograd::rebase_history(self, node);
  return const_cast<Variable&>(self);
}

Variable cumprod(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  return ops::cumprod_of(self, wrap_dim("cumprod", dim, self.dim()), ops::scan_dtype(self, dtype), false);
}

Variable& cumprod_(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  const std::int64_t d = wrap_dim("cumprod_", dim, self.dim());
  ops::check_same_type("cumprod_", self, dtype);
  autograd::check_inplace(self, "cumprod_");
  Ref<ops::CumprodBackward> node;
  if (autograd::records(self)) {
    node = autograd::make_node<ops::CumprodBackward>(self);
    node->dim = d;
    node->self.save(autograd::clone_for_saving(self));
  }
  ops::write_inplace(self, ops::run_scan(self.array(), d, ScanKind::prod, false));
  autograd::rebase_history(self, node);
  if (node) node->result.save_output(self);
  return const_cast<Variable&>(self);
}

Variable logcumsumexp(const Variable& self, std::int64_t dim) {
  const std::int64_t d = wrap_dim("logcumsumexp", dim, self.dim());
  Variable result(ops::run_scan(self.array(), d, ScanKind::logsumexp, false));
  if (autograd::records(self)) {
    const auto node = autograd::make_node<ops::LogcumsumexpBackward>(self);
    node->dim = d;
    autograd::set_history(result, node);
    ops::save_for_products(*node, self, result);
  }
  return result;
}

}  // namespace ebb
