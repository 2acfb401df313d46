// The scans of cumsum and cumprod, with their gradients.
#include "ops/reduce/cumulative.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/scan.h"

namespace ebb::ops {

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

// d/dx[i] = (product before i) * S[i], where S[i] = g[i] + x[i + 1] S[i + 1] sums over the later elements.
// There is no division, so zeros are exact, and every part is differentiable.
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
  CumprodBackward* node = nullptr;  // owned by the graph of self from record_inplace() on
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

}  // namespace ebb::ops
