// dropout, feature_dropout, alpha_dropout, feature_alpha_dropout, and native_dropout, which also returns its
// mask.
#include "ops/common/dropout.h"

#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/random.h>

#include "ops/common/checks.h"
#include "ops/common/kernels.h"
#include "ops/common/layout.h"
#include "ops/common/record.h"
#include "ops/random/inplace.h"

#include <cmath>

namespace ebb {
namespace {

void check_p(const char* op, const Variable& x, double p) {
  ops::check_defined(op, x);
  EBB_CHECK(p >= 0 && p <= 1, op, ": dropout probability has to be between 0 and 1, but got ", p, ".");
}

void check_floating(const char* op, const Variable& x) {
  EBB_CHECK(is_floating(x.dtype()), op, ": expected a floating-point dtype in training, got ", x,
            ". Convert with .to(kFloat).");
}

bool is_identity(const Variable& x, double p, bool train) { return p == 0 || !train || x.numel() == 0; }

// Returns a mask with `kept` for kept elements and 0 for dropped ones. With whole_features, one random number
// decides for all elements [n, c, ...] of a feature.
Variable mask_of(const char* op, const Variable& x, double p, double kept, bool whole_features) {
  NdArray mask;
  if (whole_features) {
    EBB_CHECK(x.dim() >= 2, op, ": feature dropout requires at least 2 dimensions in the input, got shape ",
              x.sizes(), ".");
    DimVector sizes(x.sizes());
    for (std::size_t d = 2; d < sizes.size(); ++d) sizes[d] = 1;
    mask = NdArray::empty(sizes, x.dtype(), x.device());
  } else {
    mask = ops::empty_array_like(x.array(), x.dtype(), x.device());
  }
  kernels::sample(mask.device(), mask, ops::Distribution::bernoulli, 1 - p, kept, default_generator());
  return Variable(std::move(mask));
}

// Dropout on devices. The backward pass computes the mask again from the Philox state, so no mask is written
// to memory. The op is linear in x, so the same op computes the gradient and the second derivative.

NdArray in_layout(const NdArray& x, IntArrayRef strides) {
  if (x.strides() == strides) return x;
  NdArray out = NdArray::empty_strided(x.sizes(), strides, x.dtype(), x.device());
  kernels::copy(x.device(), out, x);
  return out;
}

Variable masked(const Variable& x, IntArrayRef strides, const random::Dropout& rule);

struct DropoutBackward : autograd::Node {
  random::Dropout rule;
  DimVector strides;  // the strides of x, because the mask is indexed in x's memory order
  explicit DropoutBackward(const random::Dropout& r) : rule(r) {}
  std::string name() const override { return "NativeDropoutBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override { return {masked(grads[0], strides, rule)}; }
};

Ref<DropoutBackward> masked_node(const Variable& x, IntArrayRef strides, const random::Dropout& rule) {
  if (!autograd::records(x)) return {};
  auto node = Ref<DropoutBackward>::adopt(new DropoutBackward(rule));
  node->add_input(x);
  node->strides = DimVector(strides);
  return node;
}

Variable masked(const Variable& x, IntArrayRef strides, const random::Dropout& rule) {
  const NdArray from = in_layout(x.array(), strides);
  NdArray out = NdArray::empty_strided(x.sizes(), strides, x.dtype(), x.device());
  kernels::dropout(x.device(), out, from, rule);
  Variable result(std::move(out));
  if (const auto node = masked_node(x, strides, rule)) autograd::set_history(result, node);
  return result;
}

// The factors of alpha dropout, x * mask + shift. Dropped elements are replaced by SELU's limit for large
// negative inputs. Then all elements are scaled and shifted so that mean and variance are preserved.
struct AlphaParts {
  Variable mask, shift;
  AlphaParts(const char* op, const Variable& x, double p, bool whole_features) {
    constexpr double alpha = 1.7580993408473766;
    const double a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
    mask = mask_of(op, x, p, 1, whole_features);
    shift = add(mask, -1).mul_(alpha * a).add_(alpha * a * p);
    mask.mul_(a);
  }
};

Variable drop(const char* op, const Variable& x, double p, bool train, bool whole_features) {
  check_p(op, x, p);
  if (is_identity(x, p, train)) return x;
  if (p == 1) return mul(x, zeros({}, x.options()));
  check_floating(op, x);
  if (x.is_cpu() || whole_features)
    return mul(x, mask_of(op, x, p, ops::kept_factor(x.dtype(), p), whole_features));
  const bool dense = x.array().is_dense();
  return masked(x, dense ? x.strides() : IntArrayRef(contiguous_strides(x.sizes())),
                ops::draw_dropout(x.device(), x.dtype(), p));
}

Variable& drop_(const char* op, const Variable& self, double p, bool train, bool whole_features) {
  check_p(op, self, p);
  if (is_identity(self, p, train)) return ops::mutable_self(self);
  if (p == 1) return self.mul_(zeros({}, self.options()));
  check_floating(op, self);
  if (self.is_cpu() || whole_features || !self.array().is_dense())
    return self.mul_(mask_of(op, self, p, ops::kept_factor(self.dtype(), p), whole_features));
  autograd::check_inplace(self, op);
  const random::Dropout rule = ops::draw_dropout(self.device(), self.dtype(), p);
  const auto node = masked_node(self, self.strides(), rule);
  NdArray out = self.array();
  kernels::dropout(self.device(), out, self.array(), rule);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  return ops::mutable_self(self);
}

Variable alpha_drop(const char* op, const Variable& x, double p, bool train, bool whole_features) {
  check_p(op, x, p);
  if (is_identity(x, p, train)) return x;
  if (p == 1) return mul(x, zeros({}, x.options()));
  check_floating(op, x);
  const AlphaParts parts(op, x, p, whole_features);
  return mul(x, parts.mask).add_(parts.shift);
}

Variable& alpha_drop_(const char* op, const Variable& self, double p, bool train, bool whole_features) {
  check_p(op, self, p);
  if (is_identity(self, p, train)) return ops::mutable_self(self);
  if (p == 1) return self.mul_(zeros({}, self.options()));
  check_floating(op, self);
  const AlphaParts parts(op, self, p, whole_features);
  return self.mul_(parts.mask).add_(parts.shift);
}

}  // namespace

Variable dropout(const Variable& x, double p, bool train) { return drop("dropout", x, p, train, false); }
Variable& dropout_(const Variable& self, double p, bool train) {
  return drop_("dropout_", self, p, train, false);
}
Variable feature_dropout(const Variable& x, double p, bool train) {
  return drop("feature_dropout", x, p, train, true);
}
Variable& feature_dropout_(const Variable& self, double p, bool train) {
  return drop_("feature_dropout_", self, p, train, true);
}
Variable alpha_dropout(const Variable& x, double p, bool train) {
  return alpha_drop("alpha_dropout", x, p, train, false);
}
Variable& alpha_dropout_(const Variable& self, double p, bool train) {
  return alpha_drop_("alpha_dropout_", self, p, train, false);
}
Variable feature_alpha_dropout(const Variable& x, double p, bool train) {
  return alpha_drop("feature_alpha_dropout", x, p, train, true);
}
Variable& feature_alpha_dropout_(const Variable& self, double p, bool train) {
  return alpha_drop_("feature_alpha_dropout_", self, p, train, true);
}

std::tuple<Variable, Variable> native_dropout(const Variable& input, double p, optional<bool> train) {
  ops::check_defined("native_dropout", input);
  EBB_CHECK(p >= 0 && p <= 1, "native_dropout: dropout probability has to be between 0 and 1, but got ", p,
            ".");
  const Variable keep = empty_like(input.detach(), TensorOptions(kBool));
  if (!train.value_or(true)) return {input.clone(), keep.fill_(true)};
  EBB_CHECK(is_floating(input.dtype()), "native_dropout: expected a floating-point dtype in training, got ",
            input.dtype(), ".");
  keep.bernoulli_(1 - p);
  return {mul(input, keep.to(input.dtype())).mul(p == 1 ? 0 : 1 / (1 - p)), keep};
}

}  // namespace ebb
