// mv, dot, vdot, outer, addmv and addr.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/linalg/kernels.h"
#include "ops/linalg/product.h"

namespace ebb {
namespace ops {
namespace {

using autograd::GradList;

// Return a vector as a matrix of one column, or of one row.
NdArray as_column(const NdArray& x) {
  return x.as_strided({x.sizes()[0], 1}, {x.strides()[0], 1}, x.offset());
}
NdArray as_row(const NdArray& x) { return x.as_strided({1, x.sizes()[0]}, {0, x.strides()[0]}, x.offset()); }

struct MvBackward : autograd::Node {
  autograd::SavedVariable a{this};
  autograd::SavedVariable x{this};
  Scalar alpha = 1;
  bool a_transposed = false;
  std::string name() const override { return "MvBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) {
      const Variable v = x.unpack();
      out[0] = a_transposed ? vector_outer("outer", v, grads[0], alpha)
                            : vector_outer("outer", grads[0], v, alpha);
    }
    if (needs(1)) out[1] = matrix_vector("mv", a.unpack(), !a_transposed, grads[0], alpha);
    return out;
  }
};

struct OuterBackward : autograd::Node {
  autograd::SavedVariable x{this};
  autograd::SavedVariable y{this};
  Scalar alpha = 1;
  std::string name() const override { return "MulBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) out[0] = matrix_vector("mv", grads[0], false, y.unpack(), alpha);
    if (needs(1)) out[1] = matrix_vector("mv", grads[0], true, x.unpack(), alpha);
    return out;
  }
};

struct DotBackward : autograd::Node {
  autograd::SavedVariable x{this};
  autograd::SavedVariable y{this};
  bool conjugated = false;
  std::string name() const override { return conjugated ? "VdotBackward0" : "DotBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) out[0] = mul(grads[0], y.unpack());
    if (needs(1)) out[1] = mul(grads[0], x.unpack());
    return out;
  }
};

Variable dot_product(const char* op, const Variable& x, const Variable& y, bool conjugated) {
  const Device device = operand_device(op, x, y);
  EBB_CHECK(x.dim() == 1 && y.dim() == 1 && x.numel() == y.numel(), op,
            ": expected two vectors of the same length, got shapes ", x.sizes(), " and ", y.sizes(), ".");
  check_same_dtype(op, x, y);
  NdArray array = NdArray::empty({}, x.dtype(), device);
  kernels::dot(device, array, x.array(), y.array());
  return record<DotBackward>(
      std::move(array),
      [&](DotBackward& node) {
        if (node.needs(1)) node.x.save(x);
        if (node.needs(0)) node.y.save(y);
        node.conjugated = conjugated;
      },
      x, y);
}

// The gradient of beta * self + alpha * a b. b is a vector. a is a matrix, or for an outer product also a
// vector.
struct AddedBackward : autograd::Node {
  autograd::SavedVariable a{this};
  autograd::SavedVariable b{this};
  Scalar beta = 1;
  Scalar alpha = 1;
  bool outer = false;
  std::string name() const override { return outer ? "AddrBackward0" : "AddmvBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable& g = grads[0];
    GradList out(3);
    if (needs(0)) out[0] = beta.to_double() == 1 ? g : mul(g, beta);
    if (needs(1))
      out[1] = outer ? matrix_vector("mv", g, false, b.unpack(), alpha)
                     : vector_outer("outer", g, b.unpack(), alpha);
    if (needs(2)) out[2] = matrix_vector("mv", outer ? g : a.unpack(), true, outer ? a.unpack() : g, alpha);
    return out;
  }
};

// Computes addmv or addr, into a new tensor or into self.
Variable add_vector_product(const char* op, const Variable& self, const Variable& a, const Variable& b,
                            bool in_place, const Scalar& beta, const Scalar& alpha) {
  const Device device = operand_device(op, self, a, b);
  const bool outer = a.dim() == 1;
  check_same_dtype(op, self, a);
  check_same_dtype(op, a, b);
  const std::int64_t shape[] = {a.sizes()[0], outer ? b.numel() : 1};
  const IntArrayRef sizes(shape, outer ? 2 : 1);
  EBB_CHECK(
      IntArrayRef(broadcast_shapes(op, self.sizes(), sizes)) == sizes && (!in_place || self.sizes() == sizes),
      op, ": a tensor of shape ", self.sizes(), " cannot be added to a product of shape ", sizes, ".");
  const auto fill = [&](AddedBackward& n) {
    n.outer = outer;
    n.beta = beta;
    n.alpha = alpha;
    const auto keep = [&](const Variable& x) {
      return in_place && x.impl() == self.impl() ? autograd::clone_for_saving(x) : x;
    };
    if (n.needs(2)) n.a.save(keep(a));
    if (n.needs(1)) n.b.save(keep(b));
  };
  // The result is a new array even for in-place ops, because the operands may share self's memory.
  NdArray array = NdArray::empty(sizes, self.dtype(), device);
  const auto as_matrix = [&](const NdArray& x) { return outer ? x : as_column(x); };
  NdArray out = as_matrix(array);
  kernels::product(device, out, as_matrix(self.array().expand(sizes)),
                   outer ? as_column(a.array()) : a.array(), outer ? as_row(b.array()) : as_column(b.array()),
                   {false, false, beta, alpha});
  if (!in_place) return record<AddedBackward>(std::move(array), fill, self, a, b);
  const auto write = [&](const NdArray& into) {
    NdArray target = as_matrix(into);
    const NdArray left = NdArray::empty({target.sizes()[0], 0}, self.dtype(), device);
    const NdArray right = NdArray::empty({0, target.sizes()[1]}, self.dtype(), device);
    kernels::product(device, target, out, left, right, {false, false, 1, 1});
  };
  return record_inplace<AddedBackward>(self, op, write, fill, a, b);
}

void check_mv(const char* op, const Variable& mat, const Variable& vec) {
  operand_device(op, mat, vec);
  EBB_CHECK(mat.dim() == 2 && vec.dim() == 1 && mat.sizes()[1] == vec.numel(), op, ": a matrix of shape ",
            mat.sizes(), " cannot be multiplied with a vector of shape ", vec.sizes(), ".");
}
void check_vectors(const char* op, const Variable& x, const Variable& y) {
  operand_device(op, x, y);
  EBB_CHECK(x.dim() == 1 && y.dim() == 1, op, ": expected two vectors, got shapes ", x.sizes(), " and ",
            y.sizes(), ".");
}
void check_addr(const char* op, const Variable& self, const Variable& vec1, const Variable& vec2,
                const Scalar& beta, const Scalar& alpha) {
  check_vectors(op, vec1, vec2);
  ops::check_defined(op, self);
  EBB_CHECK(is_floating(self.dtype()) || !(alpha.is_floating_point() || beta.is_floating_point()), op,
            ": For integral input tensors, arguments alpha and beta must not be floating point numbers; got "
            "alpha = ",
            alpha, " and beta = ", beta, ".");
}

}  // namespace

Variable matrix_vector(const char* op, const Variable& a, bool a_transposed, const Variable& x,
                       const Scalar& alpha) {
  const Device device = operand_device(op, a, x);
  EBB_CHECK(a.dim() == 2 && x.dim() == 1 && a.sizes()[a_transposed ? 0 : 1] == x.numel(), op,
            ": a matrix of shape ", a.sizes(), a_transposed ? " (transposed)" : "",
            " cannot be multiplied with a vector of shape ", x.sizes(), ".");
  check_same_dtype(op, a, x);
  NdArray array = NdArray::empty({a.sizes()[a_transposed ? 1 : 0]}, a.dtype(), device);
  NdArray column = as_column(array);
  kernels::product(device, column, NdArray(), a.array(), as_column(x.array()),
                   {a_transposed, false, 0, alpha});
  return record<MvBackward>(
      std::move(array),
      [&](MvBackward& node) {
        if (node.needs(1)) node.a.save(a);
        if (node.needs(0)) node.x.save(x);
        node.a_transposed = a_transposed;
        node.alpha = alpha;
      },
      a, x);
}

Variable vector_outer(const char* op, const Variable& x, const Variable& y, const Scalar& alpha) {
  check_vectors(op, x, y);
  check_same_dtype(op, x, y);
  NdArray array = NdArray::empty({x.numel(), y.numel()}, x.dtype(), x.device());
  kernels::product(x.device(), array, NdArray(), as_column(x.array()), as_row(y.array()),
                   {false, false, 0, alpha});
  return record<OuterBackward>(
      std::move(array),
      [&](OuterBackward& node) {
        if (node.needs(1)) node.x.save(x);
        if (node.needs(0)) node.y.save(y);
        node.alpha = alpha;
      },
      x, y);
}

Variable& ReduceMethods::addmv_(const Variable& mat, const Variable& vec, const Scalar& beta,
                                const Scalar& alpha) const {
  const Variable& self = ops::self(this);
  check_mv("addmv_", mat, vec);
  add_vector_product("addmv_", self, mat, vec, true, beta, alpha);
  return ops::mutable_self(self);
}
Variable& ReduceMethods::addr_(const Variable& vec1, const Variable& vec2, const Scalar& beta,
                               const Scalar& alpha) const {
  const Variable& self = ops::self(this);
  check_addr("addr_", self, vec1, vec2, beta, alpha);
  add_vector_product("addr_", self, vec1.to(self.dtype()), vec2.to(self.dtype()), true, beta, alpha);
  return ops::mutable_self(self);
}

}  // namespace ops

Variable mv(const Variable& self, const Variable& vec) {
  EBB_AUTOCAST(mv, self, vec);
  return ops::matrix_vector("mv", self, false, vec);
}
Variable dot(const Variable& self, const Variable& other) {
  EBB_AUTOCAST(dot, self, other);
  return ops::dot_product("dot", self, other, false);
}
Variable vdot(const Variable& self, const Variable& other) {
  EBB_AUTOCAST(vdot, self, other);
  return ops::dot_product("vdot", self, other, true);
}

Variable outer(const Variable& self, const Variable& vec2) {
  ops::check_defined("outer", self, vec2);
  const DType dtype = promote_types(self.dtype(), vec2.dtype());
  if (dtype == kBool) {
    ops::check_vectors("outer", self, vec2);
    return mul(self.unsqueeze(-1), vec2);
  }
  return ops::vector_outer("outer", self.to(dtype), vec2.to(dtype));
}

Variable addmv(const Variable& self, const Variable& mat, const Variable& vec, const Scalar& beta,
               const Scalar& alpha) {
  EBB_AUTOCAST(addmv, self, mat, vec, beta, alpha);
  ops::check_mv("addmv", mat, vec);
  return ops::add_vector_product("addmv", self, mat, vec, false, beta, alpha);
}
Variable addr(const Variable& self, const Variable& vec1, const Variable& vec2, const Scalar& beta,
              const Scalar& alpha) {
  EBB_AUTOCAST(addr, self, vec1, vec2, beta, alpha);
  ops::check_addr("addr", self, vec1, vec2, beta, alpha);
  const DType dtype = promote_types(self.dtype(), promote_types(vec1.dtype(), vec2.dtype()));
  if (dtype == kBool)  // matrix products do not take Bool
    return logical_or(mul(outer(vec1, vec2), alpha.to<bool>()), mul(self, beta.to<bool>()));
  return ops::add_vector_product("addr", self.to(dtype), vec1.to(dtype), vec2.to(dtype), false, beta, alpha);
}

}  // namespace ebb
