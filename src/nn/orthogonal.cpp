// orthogonal: a parametrization of weights with orthonormal columns or rows.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/parametrize.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/hooks.h"
#include "nn/orthonormal.h"

#include <limits>

namespace ebb::nn {

Variable orthonormal_columns(const Variable& a) {
  const auto [x, tau] = geqrf(a);
  return linalg::householder_product(x, tau) * x.diagonal(0, -2, -1).sgn().unsqueeze(-2);
}

}  // namespace ebb::nn

namespace ebb::nn::utils {

namespace {

using parametrize::Parametrization;

enum class OrthogonalMap : unsigned char { matrix_exp, cayley, householder };

OrthogonalMap map_named(const optional<std::string>& name, const Variable& weight) {
  if (!name)
    return weight.size(-2) == weight.size(-1) ? OrthogonalMap::matrix_exp : OrthogonalMap::householder;
  if (*name == "matrix_exp") return OrthogonalMap::matrix_exp;
  if (*name == "cayley") return OrthogonalMap::cayley;
  EBB_CHECK(*name == "householder",
            "orthogonal: orthogonal_map has to be one of \"matrix_exp\", \"cayley\", \"householder\", got \"",
            *name, "\".");
  return OrthogonalMap::householder;
}

bool has_orthonormal_columns(const Variable& q) {
  const double eps =
      q.dtype() == kDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  return allclose(q.mT().matmul(q), eye(q.size(-1), q.options()), 1e-5,
                  10 * static_cast<double>(q.size(-2)) * eps);
}

/// Returns a tall matrix with orthonormal columns from its lower triangle.
Variable orthonormal(const Variable& x, OrthogonalMap map) {
  const std::int64_t n = x.size(-2), k = x.size(-1);
  if (map == OrthogonalMap::householder) {
    const Variable a = x.tril(-1);
    const Variable tau = 2 / (1 + (a * a).sum(-2));
    // The factor restores the signs on the diagonal, which have no gradient.
    return linalg::householder_product(a, tau) * x.detach().diagonal(0, -2, -1).trunc().unsqueeze(-2);
  }
  const Variable lower = constant_pad_nd(x.tril(), {0, n - k}, 0);
  const Variable a = lower - lower.mT();
  if (map == OrthogonalMap::matrix_exp) return matrix_exp(a).narrow(-1, 0, k);
  const Variable one = eye(n, a.options());
  return linalg::solve(one - a / 2, one + a / 2).narrow(-1, 0, k);
}

class Orthogonal final : public Parametrization {
 public:
  Orthogonal(const Variable& weight, OrthogonalMap map, bool use_trivialization)
      : sizes_(weight.sizes().vec()), map_(map), use_trivialization_(use_trivialization) {}

  Variable forward(const variable_list& originals) override {
    const Variable& x = originals[0];
    const bool wide = x.size(-2) < x.size(-1);
    Variable q = orthonormal(wide ? x.mT() : x, map_);
    if (base_.defined()) q = base_.matmul(q);
    return wide ? q.mT() : q;
  }

  variable_list right_inverse(const Variable& value) override {
    NoGradGuard no_grad;
    EBB_CHECK(value.sizes() == IntArrayRef(sizes_),
              "orthogonal: expected a matrix or a batch of matrices of shape ", IntArrayRef(sizes_),
              ", got one of shape ", value.sizes(), ".");
    const bool wide = value.size(-2) < value.size(-1);
    const Variable tall = wide ? value.mT() : value;
    if (use_trivialization_) {
      move_base(tall);
      const Variable start = zeros_like(value);
      start.diagonal(0, -2, -1).fill_(-1);
      return {start};
    }
    if (map_ == OrthogonalMap::householder) {
      const auto [a, tau] = geqrf(tall);
      const Variable diagonal = a.diagonal(0, -2, -1);
      diagonal.sign_();
      diagonal.mul_(where(tau == 0, -1, 1).to(a.dtype()));
      return {wide ? a.mT() : a};
    }
    // The matrix exponential and the Cayley map have no inverse here. The first value therefore becomes the
    // original itself, so that the parameter is initially the map of the weight. Later values are refused.
    EBB_CHECK(!began_,
              "orthogonal: with the matrix exponential or the Cayley map a value cannot be assigned without "
              "use_trivialization.");
    began_ = true;
    return {value};
  }

  std::shared_ptr<Module> clone(const optional<Device>& device) const override {
    auto copy = std::make_shared<Orthogonal>(*this);
    copy->buffers_.clear();
    if (base_.defined())
      copy->base_ = copy->register_buffer("base", device ? base_.to(*device).clone() : base_.clone());
    return copy;
  }

 private:
  // Sets base_ to `tall` if its columns are orthonormal, and otherwise to the Q of its QR decomposition. If n
  // > k, random columns first extend `tall` to an n x n matrix.
  void move_base(const Variable& tall) {
    const std::int64_t n = tall.size(-2), k = tall.size(-1);
    Variable base = tall.clone();
    if (n != k) {
      DimVector rest(tall.sizes());
      rest.back() = n - k;
      base = orthonormal_columns(cat({tall, randn(rest, tall.options())}, -1));
    } else if (!has_orthonormal_columns(tall)) {
      base = orthonormal_columns(tall);
    }
    if (base_.defined())
      base_.copy_(base);
    else
      base_ = register_buffer("base", base);
  }

  std::vector<std::int64_t> sizes_;
  OrthogonalMap map_;
  bool use_trivialization_, began_ = false;
  Variable base_;
};

}  // namespace

namespace parametrizations {

void orthogonal(Module& module, const std::string& name, const optional<std::string>& orthogonal_map,
                bool use_trivialization) {
  const Variable* const found = detail::ModuleAccess::parameters(module).find(name);
  EBB_CHECK(found && found->defined(), "orthogonal: ", module.name(), " has no parameter '", name, "'.");
  const Variable weight = *found;
  EBB_CHECK(weight.dim() >= 2, "orthogonal: expected a matrix or a batch of matrices, got '", name, "' of ",
            module.name(), " of shape ", weight.sizes(), ".");
  parametrize::register_parametrization(
      module, name,
      std::make_shared<Orthogonal>(weight, map_named(orthogonal_map, weight), use_trivialization),
      /*unsafe=*/true);
}

}  // namespace parametrizations

}  // namespace ebb::nn::utils
