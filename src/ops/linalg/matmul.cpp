// matmul, inner, tensordot, kron, addbmm: products of tensors of any rank.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/linalg/product.h"

namespace ebb {
namespace {

std::int64_t product_of(IntArrayRef sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return n;
}

// Multiplies operands of two or more dimensions, at least one of which has batch dimensions.
Variable batched(const Variable& a, const Variable& b) {
  const std::size_t da = static_cast<std::size_t>(a.dim()), db = static_cast<std::size_t>(b.dim());
  const std::int64_t m = a.sizes()[da - 2], k = a.sizes()[da - 1], n = b.sizes()[db - 1];
  EBB_CHECK(k == b.sizes()[db - 2], "matmul: shapes ", a.sizes(), " and ", b.sizes(),
            " cannot be multiplied: ", k, " columns meet ", b.sizes()[db - 2], " rows.");
  if (da == 3 && db == 3 && a.sizes()[0] == b.sizes()[0]) return ops::product("matmul", a, false, b, false);
  const DimVector batch = broadcast_shapes("matmul", a.sizes().slice(0, da - 2), b.sizes().slice(0, db - 2));
  const DimVector sizes = ops::sizes_with(batch, {m, n});
  if (db == 2) {  // the second operand is one matrix: the batches become additional rows
    const Variable rows = a.reshape({product_of(a.sizes().slice(0, da - 1)), k});
    return ops::product("matmul", rows, false, b, false).view(sizes);
  }
  const std::int64_t count = product_of(batch);
  const auto as_batch = [&](const Variable& x, std::int64_t rows, std::int64_t cols) {
    const DimVector full = ops::sizes_with(batch, {rows, cols});
    const Variable wide = x.sizes() == IntArrayRef(full) ? x : x.expand(full);
    return wide.dim() == 3 ? wide : wide.reshape({count, rows, cols});
  };
  const Variable out = ops::product("matmul", as_batch(a, m, k), false, as_batch(b, k, n), false);
  return out.sizes() == IntArrayRef(sizes) ? out : out.view(sizes);
}

// Computes the sum over the batch as one product with a longer inner dimension: [m, b * k] x [b * k, n].
struct JoinedBatches {
  Variable rows, columns;
  JoinedBatches(const char* op, const Variable& self, const Variable& batch1, const Variable& batch2) {
    ops::operand_device(op, self, batch1, batch2);
    EBB_CHECK(batch1.dim() == 3 && batch2.dim() == 3 && batch1.sizes()[0] == batch2.sizes()[0] &&
                  batch1.sizes()[2] == batch2.sizes()[1],
              op, ": expected two batches of matrices that can be multiplied, got shapes ", batch1.sizes(),
              " and ", batch2.sizes(), ".");
    const std::int64_t b = batch1.sizes()[0], m = batch1.sizes()[1], k = batch1.sizes()[2],
                       n = batch2.sizes()[2];
    rows = batch1.transpose(0, 1).reshape({m, b * k});
    columns = batch2.reshape({b * k, n});
  }
};

}  // namespace

Variable matmul(const Variable& self, const Variable& other) {
  EBB_AUTOCAST(matmul, self, other);
  ops::check_defined("matmul", self, other);
  const std::int64_t da = self.dim(), db = other.dim();
  EBB_CHECK(da > 0 && db > 0, "matmul: expected tensors of at least one dimension, got shapes ", self.sizes(),
            " and ", other.sizes(), ". Multiply by a scalar with mul().");
  if (da == 2 && db == 2) return ops::product("matmul", self, false, other, false);
  if (da == 2 && db == 1) return ops::matrix_vector("matmul", self, false, other);
  if (da == 1 && db <= 2)
    ops::common_device("matmul", self, other);  // dot() and matrix_vector() would throw another message
  if (da == 1 && db == 2) return ops::matrix_vector("matmul", other, true, self);
  if (da == 1 && db == 1) return dot(self, other);
  if (da == 1) return batched(self.unsqueeze(0), other).squeeze(-2);
  if (db == 1) return batched(self, other.unsqueeze(1)).squeeze(-1);
  return batched(self, other);
}

Variable inner(const Variable& self, const Variable& other) {
  ops::operand_device("inner", self, other);
  if (self.dim() == 0 || other.dim() == 0) return mul(self, other);
  if (self.dim() == 1 && other.dim() == 1) return dot(self, other);
  EBB_CHECK(self.sizes().back() == other.sizes().back(),
            "inner: the last dimensions must be equal, got shapes ", self.sizes(), " and ", other.sizes(),
            ".");
  return tensordot(self, other, -1, -1);
}

Variable addbmm(const Variable& self, const Variable& batch1, const Variable& batch2, const Scalar& beta,
                const Scalar& alpha) {
  EBB_AUTOCAST(addbmm, self, batch1, batch2, beta, alpha);
  const JoinedBatches joined("addbmm", self, batch1, batch2);
  return ops::add_product("addbmm", self, joined.rows, false, joined.columns, false, beta, alpha);
}

Variable& ops::ReduceMethods::addbmm_(const Variable& batch1, const Variable& batch2, const Scalar& beta,
                                      const Scalar& alpha) const {
  const Variable& self = ops::self(this);
  const JoinedBatches joined("addbmm_", self, batch1, batch2);
  return add_product_("addbmm_", self, joined.rows, joined.columns, beta, alpha);
}

Variable tensordot(const Variable& self, const Variable& other, IntArrayRef dims_self,
                   IntArrayRef dims_other) {
  EBB_AUTOCAST(tensordot, self, other, dims_self, dims_other);
  ops::check_defined("tensordot", self, other);
  EBB_CHECK(dims_self.size() == dims_other.size(),
            "tensordot: expected the same number of dimensions for both tensors, got ", dims_self, " and ",
            dims_other, ".");
  // The dimensions of self are permuted to (kept, summed), and those of other to (summed, kept).
  DimVector order_self, order_other, sizes;
  SmallVector<bool, 6> summed_self(static_cast<std::size_t>(self.dim()), false);
  SmallVector<bool, 6> summed_other(static_cast<std::size_t>(other.dim()), false);
  std::int64_t rows = 1, cols = 1, depth = 1;
  Variable a = self, b = other;
  for (std::size_t i = 0; i < dims_self.size(); ++i) {
    const std::int64_t x = wrap_dim("tensordot", dims_self[i], a.dim()),
                       y = wrap_dim("tensordot", dims_other[i], b.dim());
    const std::size_t ux = static_cast<std::size_t>(x), uy = static_cast<std::size_t>(y);
    EBB_CHECK(!summed_self[ux] && !summed_other[uy], "tensordot: a dimension appears twice in ", dims_self,
              " or ", dims_other, ".");
    EBB_CHECK(self.sizes()[ux] == other.sizes()[uy] || self.sizes()[ux] == 1 || other.sizes()[uy] == 1,
              "tensordot: dimension ", x, " of shape ", self.sizes(), " does not match dimension ", y,
              " of shape ", other.sizes(), ".");
    if (a.sizes()[ux] != b.sizes()[uy]) {  // a size of 1 broadcasts: the other operand is summed first
      const std::int64_t one[] = {a.sizes()[ux] == 1 ? y : x};
      Variable& wide = a.sizes()[ux] == 1 ? b : a;
      DimVector reduced(wide.sizes());
      reduced[one[0]] = 1;
      wide = wide.sum_to_size(reduced);
    }
    summed_self[ux] = summed_other[uy] = true;
    depth *= a.sizes()[ux];
  }
  for (std::size_t d = 0; d < summed_self.size(); ++d)
    if (!summed_self[d])
      order_self.push_back(static_cast<std::int64_t>(d)), sizes.push_back(a.sizes()[d]), rows *= a.sizes()[d];
  for (std::size_t i = 0; i < dims_self.size(); ++i) {
    order_self.push_back(wrap_dim("tensordot", dims_self[i], a.dim()));
    order_other.push_back(wrap_dim("tensordot", dims_other[i], b.dim()));
  }
  for (std::size_t d = 0; d < summed_other.size(); ++d)
    if (!summed_other[d])
      order_other.push_back(static_cast<std::int64_t>(d)), sizes.push_back(b.sizes()[d]),
          cols *= b.sizes()[d];
  return ops::product("tensordot", a.permute(order_self).reshape({rows, depth}), false,
                      b.permute(order_other).reshape({depth, cols}), false)
      .reshape(sizes);
}

Variable kron(const Variable& self, const Variable& other) {
  ops::operand_device("kron", self, other);
  // The sizes s and t of a dimension become [s, 1] in self and [1, t] in other. The shape with fewer
  // dimensions gets leading ones.
  const std::size_t dims = static_cast<std::size_t>(std::max(self.dim(), other.dim()));
  DimVector a, b, sizes;
  for (std::size_t d = 0; d < dims; ++d) {
    const auto size = [&](const Variable& x) {
      const std::size_t missing = dims - static_cast<std::size_t>(x.dim());
      return d < missing ? 1 : x.sizes()[d - missing];
    };
    const std::int64_t s = size(self), t = size(other);
    a.push_back(s);
    a.push_back(1);
    b.push_back(1);
    b.push_back(t);
    sizes.push_back(s * t);
  }
  return mul(self.reshape(a), other.reshape(b)).reshape(sizes);
}

}  // namespace ebb
