// mm, bmm, addmm, baddbmm: products of two matrices, with an optional sum.
#include "ops/linalg/product.h"

#include <ebb/autograd/record.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/float_product.h"
#include "ops/common/record.h"
#include "ops/linalg/kernels.h"

namespace ebb::ops {
namespace {

using autograd::GradList;

bool is_one(const Scalar& s) { return s.to_double() == 1; }

// The gradients of a and b in alpha * op(a) op(b), shared by two nodes. The gradient of b, usually a weight,
// is computed first, because it reads a. Afterwards a compiled function can reuse a's memory for the gradient
// of a.
struct ProductNode : autograd::Node {
  autograd::SavedVariable a{this};
  autograd::SavedVariable b{this};
  Scalar alpha = 1;
  bool a_transposed = false;
  bool b_transposed = false;
  bool batch = false;

  // Saves the operands that the gradients of edges `first` and `first + 1` need.
  void save(const Variable& x, bool x_transposed, const Variable& y, bool y_transposed, const Scalar& scale,
            std::size_t first) {
    if (needs(first + 1)) a.save(x);
    if (needs(first)) b.save(y);
    a_transposed = x_transposed;
    b_transposed = y_transposed;
    alpha = scale;
    batch = x.dim() == 3;
  }
  Variable grad_a(const Variable& grad) const {
    const Variable y = b.unpack();
    return a_transposed ? product("matmul", y, b_transposed, grad, true, alpha)
                        : product("matmul", grad, false, y, !b_transposed, alpha);
  }
  Variable grad_b(const Variable& grad) const {
    const Variable x = a.unpack();
    return b_transposed ? product("matmul", grad, true, x, a_transposed, alpha)
                        : product("matmul", x, !a_transposed, grad, false, alpha);
  }
};

struct MmBackward : ProductNode {
  std::string name() const override { return batch ? "BmmBackward0" : "MmBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(1)) out[1] = grad_b(grads[0]);
    if (needs(0)) out[0] = grad_a(grads[0]);
    return out;
  }
};

struct AddmmBackward : ProductNode {
  Scalar beta = 1;
  std::string name() const override { return batch ? "BaddbmmBackward0" : "AddmmBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(3);
    if (needs(0)) out[0] = is_one(beta) ? grads[0] : mul(grads[0], beta);
    if (needs(2)) out[2] = grad_b(grads[0]);
    if (needs(1)) out[1] = grad_a(grads[0]);
    return out;
  }
};

struct Shape {
  std::int64_t sizes[3];
  std::size_t dims;
  IntArrayRef ref() const { return {sizes, dims}; }
};

// Checks the operands and returns the shape of their product.
Shape product_shape(const char* op, const Variable& a, bool a_transposed, const Variable& b,
                    bool b_transposed) {
  operand_device(op, a, b);
  const std::int64_t d = a.dim();
  const IntArrayRef x = a.sizes(), y = b.sizes();
  EBB_CHECK(b.dim() == d && (d == 2 || d == 3), op,
            ": expected two matrices, or two batches of matrices for bmm, got shapes ", x, " and ", y,
            ". matmul() takes other combinations.");
  check_same_dtype(op, a, b);
  EBB_CHECK(d == 2 || x[0] == y[0], op, ": expected the same number of matrices in both batches, got shapes ",
            x, " and ", y, ".");
  const std::size_t r = static_cast<std::size_t>(d) - 2, c = r + 1;
  const std::int64_t inner = x[a_transposed ? r : c];
  EBB_CHECK(inner == y[b_transposed ? c : r], op, ": shapes ", x, a_transposed ? " (transposed)" : "",
            " and ", y, b_transposed ? " (transposed)" : "", " cannot be multiplied: ", inner,
            " columns meet ", y[b_transposed ? c : r], " rows.");
  const std::int64_t m = x[a_transposed ? c : r], n = y[b_transposed ? r : c];
  return d == 3 ? Shape{{x[0], m, n}, 3} : Shape{{m, n, 0}, 2};
}

// Checks that both operands of mm or bmm have `dims` dimensions. product() checks their sizes.
void check_both_dims(const char* op, const Variable& a, const Variable& b, std::int64_t dims) {
  check_defined(op, a, b);
  EBB_CHECK(a.dim() == dims && b.dim() == dims, op, ": expected two tensors of ", dims,
            " dimensions, got shapes ", a.sizes(), " and ", b.sizes(),
            ". matmul() takes other combinations.");
}

void check_self(const char* op, const Variable& self, const Variable& a, const Shape& shape) {
  common_device(op, self, a);
  check_same_dtype(op, self, a);
  bool fits = self.dim() <= static_cast<std::int64_t>(shape.dims);
  for (std::int64_t i = 1; fits && i <= self.dim(); ++i) {
    const std::int64_t have = self.sizes()[self.dim() - i];
    fits = have == 1 || have == shape.sizes[shape.dims - static_cast<std::size_t>(i)];
  }
  EBB_CHECK(fits, op, ": a tensor of shape ", self.sizes(), " cannot be added to a product of shape ",
            shape.ref(), ".");
}

void check_integral_scalars(const char* op, DType dtype, const Scalar& beta, const Scalar& alpha) {
  EBB_CHECK(is_floating(dtype) || (!beta.is_floating_point() && !alpha.is_floating_point()), op,
            ": for integer tensors alpha and beta must be integers, got alpha ", alpha, " and beta ", beta,
            ".");
}

}  // namespace

Variable product(const char* op, const Variable& a, bool a_transposed, const Variable& b, bool b_transposed,
                 const Scalar& alpha) {
  const Shape shape = product_shape(op, a, a_transposed, b, b_transposed);
  NdArray array = NdArray::empty(shape.ref(), a.dtype(), a.device());
  kernels::product(a.device(), array, NdArray(), a.array(), b.array(),
                   {a_transposed, b_transposed, 0, alpha});
  return record<MmBackward>(
      std::move(array), [&](MmBackward& node) { node.save(a, a_transposed, b, b_transposed, alpha, 0); }, a,
      b);
}

Variable add_product(const char* op, const Variable& self, const Variable& a, bool a_transposed,
                     const Variable& b, bool b_transposed, const Scalar& beta, const Scalar& alpha) {
  const Shape shape = product_shape(op, a, a_transposed, b, b_transposed);
  check_self(op, self, a, shape);
  check_integral_scalars(op, a.dtype(), beta, alpha);
  NdArray array = NdArray::empty(shape.ref(), a.dtype(), a.device());
  kernels::product(a.device(), array, self.array(), a.array(), b.array(),
                   {a_transposed, b_transposed, beta, alpha});
  return record<AddmmBackward>(
      std::move(array),
      [&](AddmmBackward& node) {
        node.save(a, a_transposed, b, b_transposed, alpha, 1);
        node.beta = beta;
      },
      self, a, b);
}

void product_transposed(NdArray& out, const NdArray& a, const NdArray& b) {
  kernels::product(out.device(), out, NdArray(), a, b, {.b_transposed = true});
}

Variable recorded_add_product(NdArray result, const Variable& self, const Variable& a, bool a_transposed,
                              const Variable& b, bool b_transposed) {
  return record<AddmmBackward>(
      std::move(result), [&](AddmmBackward& node) { node.save(a, a_transposed, b, b_transposed, 1, 1); },
      self, a, b);
}

Variable& add_product_(const char* op, const Variable& self, const Variable& a, const Variable& b,
                       const Scalar& beta, const Scalar& alpha) {
  const Shape shape = product_shape(op, a, false, b, false);
  check_self(op, self, a, shape);
  check_integral_scalars(op, a.dtype(), beta, alpha);
  EBB_CHECK(self.sizes() == shape.ref(), op, ": expected a tensor of the product's shape ", shape.ref(),
            ", got ", self.sizes(), ".");
  // The kernel reads its operands while it writes, so operands that alias self are copied.
  const auto unaliased = [&](const Variable& x) {
    return x.array().storage()->is_alias_of(*self.array().storage()) ? copied_array(x.array()) : x.array();
  };
  // If an operand is self, its old elements are saved, because the op overwrites them.
  const auto keep = [&](const Variable& x) {
    return x.impl() == self.impl() ? autograd::clone_for_saving(x) : x;
  };
  return record_inplace<AddmmBackward>(
      self, op,
      [&](NdArray& out) {
        kernels::product(self.device(), out, out, unaliased(a), unaliased(b), {false, false, beta, alpha});
      },
      [&](AddmmBackward& node) {
        node.save(keep(a), false, keep(b), false, alpha, 1);
        node.beta = beta;
      },
      a, b);
}

}  // namespace ebb::ops

namespace ebb {

Variable mm(const Variable& self, const Variable& mat2) {
  EBB_AUTOCAST(mm, self, mat2);
  ops::check_both_dims("mm", self, mat2, 2);
  return ops::product("mm", self, false, mat2, false);
}

Variable bmm(const Variable& self, const Variable& mat2) {
  EBB_AUTOCAST(bmm, self, mat2);
  ops::check_both_dims("bmm", self, mat2, 3);
  return ops::product("bmm", self, false, mat2, false);
}

Variable addmm(const Variable& self, const Variable& mat1, const Variable& mat2, const Scalar& beta,
               const Scalar& alpha) {
  EBB_AUTOCAST(addmm, self, mat1, mat2, beta, alpha);
  ops::check_both_dims("addmm", mat1, mat2, 2);
  return ops::add_product("addmm", self, mat1, false, mat2, false, beta, alpha);
}

Variable baddbmm(const Variable& self, const Variable& batch1, const Variable& batch2, const Scalar& beta,
                 const Scalar& alpha) {
  EBB_AUTOCAST(baddbmm, self, batch1, batch2, beta, alpha);
  ops::check_both_dims("baddbmm", batch1, batch2, 3);
  return ops::add_product("baddbmm", self, batch1, false, batch2, false, beta, alpha);
}

Variable& ops::ReduceMethods::addmm_(const Variable& mat1, const Variable& mat2, const Scalar& beta,
                                     const Scalar& alpha) const {
  const Variable& self = ops::self(this);
  ops::check_both_dims("addmm_", mat1, mat2, 2);
  return ops::add_product_("addmm_", self, mat1, mat2, beta, alpha);
}

Variable& ops::ReduceMethods::baddbmm_(const Variable& batch1, const Variable& batch2, const Scalar& beta,
                                       const Scalar& alpha) const {
  const Variable& self = ops::self(this);
  ops::check_both_dims("baddbmm_", batch1, batch2, 3);
  return ops::add_product_("baddbmm_", self, batch1, batch2, beta, alpha);
}

}  // namespace ebb
