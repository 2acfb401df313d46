// cdist and pdist: distances between rows, with their gradient.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/linalg/kernels.h"
#include "ops/linalg/product.h"

#include <cmath>

namespace ebb {
namespace {

using autograd::GradList;

// Returns the derivatives of the distances with respect to the differences, as differentiable ops. If a
// difference or a distance is zero, the derivative is zero, even where the formula would be infinite.
Variable distance_derivatives(const Variable& diff, const Variable& distance, double p) {
  const Variable d = distance.unsqueeze(-1);
  if (p == 1) return diff.sign();
  if (std::isinf(p)) return diff.sign() * diff.abs().eq(d).to(diff.dtype());
  // A zero distance or difference is replaced by one before the division, and the quotient is then replaced
  // by zero.
  const Variable some = d.ne(0), safe = where(some, d, Scalar(1));
  if (p == 2) return where(some, diff / safe, Scalar(0));
  const Variable size = diff.abs(), both = some.logical_and(size.ne(0));
  return where(both, diff.sign() * (where(both, size, Scalar(1)) / safe).pow(p - 1), Scalar(0));
}

struct CdistBackward : autograd::Node {
  autograd::SavedVariable x1{this};
  autograd::SavedVariable x2{this};
  autograd::SavedVariable result{this};
  double p = 2;
  std::string name() const override { return "CdistBackward0"; }

  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (p == 0) return out;
    const Variable &g = grads[0], a = x1.unpack(), b = x2.unpack(), d = result.unpack();
    if (GradMode::is_enabled()) {
      const Variable terms = distance_derivatives(a.unsqueeze(-2) - b.unsqueeze(-3), d, p) * g.unsqueeze(-1);
      if (needs(0)) out[0] = terms.sum(-2);
      if (needs(1)) out[1] = -terms.sum(-3);
      return out;
    }
    if (needs(0)) out[0] = one_side(g, a, b, d);
    if (needs(1)) out[1] = one_side(g.transpose(-1, -2), b, a, d.transpose(-1, -2));
    return out;
  }

  // Computes the gradient of one operand without storing the differences of all pairs. The result is not
  // differentiable.
  Variable one_side(const Variable& g, const Variable& a, const Variable& b, const Variable& d) const {
    NdArray array = NdArray::empty(a.sizes(), a.dtype(), a.device());
    kernels::cdist_backward(a.device(), array, ops::contiguous_array(g), ops::contiguous_array(a),
                            ops::contiguous_array(b), ops::contiguous_array(d), p);
    return Variable(std::move(array));
  }
};

}  // namespace

Variable cdist(const Variable& self, const Variable& other, double p, optional<std::int64_t> compute_mode) {
  EBB_AUTOCAST(cdist, self, other, p, compute_mode);
  const Device device = ops::operand_device("cdist", self, other);
  ops::check_same_dtype("cdist", self, other);
  EBB_CHECK(
      self.dim() >= 2 && other.dim() >= 2 && self.sizes().back() == other.sizes().back(),
      "cdist: expected two lists of points of the same dimension, [..., n, d] and [..., m, d], got shapes ",
      self.sizes(), " and ", other.sizes(), ".");
  EBB_CHECK(self.dtype() == kFloat || self.dtype() == kDouble, "cdist: expected Float or Double, got ",
            self.dtype(), ".");
  EBB_CHECK(p >= 0, "cdist: p must not be negative, got ", p, ".");
  EBB_CHECK(!compute_mode || (*compute_mode >= 0 && *compute_mode <= 2),
            "cdist: compute_mode must be 0, 1 or 2, got ", compute_mode.value_or(0), ".");
  const IntArrayRef s = self.sizes(), t = other.sizes();
  const std::size_t ds = s.size(), dt = t.size();
  const DimVector batch = broadcast_shapes("cdist", s.slice(0, ds - 2), t.slice(0, dt - 2));
  const DimVector left = ops::sizes_with(batch, {s[ds - 2], s[ds - 1]}),
                  right = ops::sizes_with(batch, {t[dt - 2], t[dt - 1]});
  const Variable a = s == IntArrayRef(left) ? self : self.expand(left);
  const Variable b = t == IntArrayRef(right) ? other : other.expand(right);
  NdArray array = NdArray::empty(ops::sizes_with(batch, {s[ds - 2], t[dt - 2]}), self.dtype(), device);
  kernels::cdist(device, array, ops::contiguous_array(a), ops::contiguous_array(b), p);
  Variable out(std::move(array));
  if (const auto node = ops::record_results<CdistBackward>({&out}, a, b)) {
    node->x1.save(a);
    node->x2.save(b);
    node->p = p;
    node->result.save_output(out);
  }
  return out;
}

Variable pdist(const Variable& self, double p) {
  const Device device = ops::operand_device("pdist", self);
  EBB_CHECK(self.dim() == 2 && is_floating(self.dtype()),
            "pdist: expected a matrix of a floating-point dtype, got ", self.dtype(), " of shape ",
            self.sizes(), ".");
  EBB_CHECK(p >= 0, "pdist: p must not be negative, got ", p, ".");
  const Variable pairs = triu_indices(self.size(0), self.size(0), 1, TensorOptions(kLong).device(device));
  return (self.index_select(0, pairs.select(0, 0)) - self.index_select(0, pairs.select(0, 1))).norm(p, -1);
}

}  // namespace ebb
