// weight_norm parametrizes a weight by its direction and its length. spectral_norm divides a weight by its
// spectral norm.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/functional/norm.h>
#include <ebb/nn/modules/conv.h>
#include <ebb/nn/parametrize.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/hooks.h"

namespace ebb::nn::utils {
namespace {

using parametrize::Parametrization;

std::int64_t checked_dim(std::int64_t dim, const Variable& x, const char* what) {
  EBB_CHECK(dim >= -x.dim() && dim < x.dim(), what, ": dim ", dim, " is out of range for a weight of shape ",
            x.sizes(), ".");
  return dim < 0 ? dim + x.dim() : dim;
}

/// Returns the norm of v over all dimensions except `dim`, with keepdim. If `dim` is nullopt, the norm is
/// over all dimensions.
Variable length(const Variable& v, const optional<std::int64_t>& dim) {
  if (!dim) return v.norm();
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < v.dim(); ++d)
    if (d != *dim) others.push_back(d);
  return others.empty() ? v.abs() : v.norm(2, others, /*keepdim=*/true);
}

Variable weighed(const Variable& g, const Variable& v, const optional<std::int64_t>& dim) {
  return v * (g / length(v, dim));
}

class WeightNorm final : public Parametrization {
 public:
  explicit WeightNorm(optional<std::int64_t> dim) : dim_(dim) {}
  Variable forward(const variable_list& originals) override {
    return weighed(originals[0], originals[1], dim_);
  }
  variable_list right_inverse(const Variable& value) override { return {length(value, dim_), value}; }
  std::shared_ptr<Module> clone(const optional<Device>&) const override {
    return std::make_shared<WeightNorm>(*this);
  }

 private:
  optional<std::int64_t> dim_;
};

struct PowerMethod {
  std::int64_t dim, steps;
  double eps;

  Variable matrix(const Variable& weight) const {
    return (dim == 0 ? weight : weight.movedim(dim, 0)).flatten(1);
  }
  Variable unit(const Variable& x) const {
    return functional::normalize(x, functional::NormalizeFuncOptions().dim(0).eps(eps));
  }
  Variable start(const Variable& matrix, std::int64_t side) const {
    return unit(ebb::empty({matrix.size(side)}, matrix.options()).normal_(0, 1));
  }
  /// Returns w / sigma for the current singular vectors u and v. The power method does not update them here.
  static Variable divided(const Variable& weight, const Variable& matrix, const Variable& u,
                          const Variable& v) {
    return weight / u.clone().dot(matrix.mv(v.clone()));
  }
};

PowerMethod method_for(const Module& module, const Variable& weight, std::int64_t steps, double eps,
                       const optional<std::int64_t>& dim) {
  EBB_CHECK(steps > 0, "spectral_norm: n_power_iterations must be positive, got ", steps, ".");
  const bool transposed =
      module.as<ConvTranspose1d>() || module.as<ConvTranspose2d>() || module.as<ConvTranspose3d>();
  return {checked_dim(dim.value_or(transposed ? 1 : 0), weight, "spectral_norm"), steps, eps};
}

class SpectralNorm final : public Parametrization {
 public:
  SpectralNorm(const PowerMethod& method, const Variable& weight) : method_(method) {
    if (weight.dim() < 2) return;
    NoGradGuard no_grad;
    const Variable matrix = method_.matrix(weight.detach());
    u_ = register_buffer("_u", method_.start(matrix, 0));
    v_ = register_buffer("_v", method_.start(matrix, 1));
    constexpr std::int64_t kFirstSteps = 15;
    iterate(matrix, kFirstSteps);
  }
  Variable forward(const variable_list& originals) override {
    const Variable& weight = originals[0];
    if (weight.dim() < 2) return method_.unit(weight);
    const Variable matrix = method_.matrix(weight);
    if (is_training()) iterate(matrix, method_.steps);
    return PowerMethod::divided(weight, matrix, u_, v_);
  }
  std::shared_ptr<Module> clone(const optional<Device>& device) const override {
    auto copy = std::make_shared<SpectralNorm>(*this);
    copy->buffers_.clear();
    if (!u_.defined()) return copy;
    const auto fresh = [&](const Variable& x) { return device ? x.to(*device).clone() : x.clone(); };
    copy->u_ = copy->register_buffer("_u", fresh(u_));
    copy->v_ = copy->register_buffer("_v", fresh(v_));
    return copy;
  }

 private:
  void iterate(const Variable& matrix, std::int64_t steps) {
    NoGradGuard no_grad;
    const Variable m = matrix.detach();
    for (std::int64_t i = 0; i < steps; ++i) {
      u_.copy_(method_.unit(m.mv(v_)));
      v_.copy_(method_.unit(m.t().mv(u_)));
    }
  }

  PowerMethod method_;
  Variable u_, v_;
};

Variable& registered(Module& module, const std::string& name) {
  Variable* const found = detail::ModuleAccess::parameters(module).find(name);
  if (found) return *found;
  return detail::ModuleAccess::buffers(module)[name];
}

Variable weight_of(Module& module, const std::string& name, const char* what) {
  EBB_CHECK(!detail::is_derived(module, name), what, ": '", name, "' of ", module.name(),
            " is computed from other parameters already.");
  const Variable* const found = detail::ModuleAccess::parameters(module).find(name);
  EBB_CHECK(found && found->defined(), what, ": ", module.name(), " has no parameter '", name, "'.");
  return *found;
}

// Replaces the parameter of a module, or of the fresh copy of a module, by its length and its direction.
void register_weight_norm(Module& module, const std::string& name, const optional<std::int64_t>& dim) {
  const Variable target = detail::take_parameter(module, name);
  const bool grad = target.requires_grad();
  {
    NoGradGuard no_grad;
    const Variable weight = target.detach();
    module.register_parameter(name + "_g", length(weight, dim), grad);
    module.register_parameter(name + "_v", weight.clone(), grad);
  }
  detail::derive(module, {name, target,
                          [name, dim](Module& m) {
                            return weighed(registered(m, name + "_g"), registered(m, name + "_v"), dim);
                          },
                          [name, dim](Module& copy) { register_weight_norm(copy, name, dim); }});
}

void register_spectral_norm(Module& module, const std::string& name, const PowerMethod& method) {
  const Variable target = detail::take_parameter(module, name);
  const bool grad = target.requires_grad();
  {
    NoGradGuard no_grad;
    const Variable weight = target.detach(), matrix = method.matrix(weight);
    module.register_parameter(name + "_orig", weight.clone(), grad);
    module.register_buffer(name + "_u", method.start(matrix, 0));
    module.register_buffer(name + "_v", method.start(matrix, 1));
  }
  const auto compute = [name, method](Module& m) {
    const Variable &weight = registered(m, name + "_orig"), &u = registered(m, name + "_u"),
                   &v = registered(m, name + "_v");
    const Variable matrix = method.matrix(weight);
    if (m.is_training()) {
      NoGradGuard no_grad;
      const Variable numbers = matrix.detach();
      for (std::int64_t i = 0; i < method.steps; ++i) {
        v.copy_(method.unit(numbers.t().mv(u)));
        u.copy_(method.unit(numbers.mv(v)));
      }
    }
    return PowerMethod::divided(weight, matrix, u, v);
  };
  detail::derive(module, {name, target, compute,
                          [name, method](Module& copy) { register_spectral_norm(copy, name, method); }});
}

void check_has(const Module& module, const std::string& name, const char* what, const char* suffix) {
  EBB_CHECK(detail::is_derived(module, name) && module.named_parameters(false).contains(name + suffix), what,
            " of '", name, "' not found in ", module.name(), ".");
}

}  // namespace

namespace parametrizations {

void weight_norm(Module& module, const std::string& name, optional<std::int64_t> dim) {
  if (const Variable* const weight = detail::ModuleAccess::parameters(module).find(name);
      dim && weight && weight->defined())
    dim = checked_dim(*dim, *weight, "weight_norm");
  parametrize::register_parametrization(module, name, std::make_shared<WeightNorm>(dim));
}

void spectral_norm(Module& module, const std::string& name, std::int64_t n_power_iterations, double eps,
                   optional<std::int64_t> dim) {
  const Variable weight = weight_of(module, name, "spectral_norm");
  parametrize::register_parametrization(
      module, name,
      std::make_shared<SpectralNorm>(method_for(module, weight, n_power_iterations, eps, dim), weight));
}

}  // namespace parametrizations

void weight_norm(Module& module, const std::string& name, optional<std::int64_t> dim) {
  const Variable weight = weight_of(module, name, "weight_norm");
  if (dim) dim = checked_dim(*dim, weight, "weight_norm");
  register_weight_norm(module, name, dim);
  detail::recompute(module);
}

void remove_weight_norm(Module& module, const std::string& name) {
  check_has(module, name, "weight_norm", "_g");
  NoGradGuard no_grad;
  detail::recompute(module);
  Module::StateDict& parameters = detail::ModuleAccess::parameters(module);
  const bool grad = parameters[name + "_v"].requires_grad();
  parameters.erase(name + "_g");
  const Variable weight = detail::no_longer_derived(module, name, grad);
  parameters.erase(name + "_v");
  module.register_parameter(name, weight, grad);
}

void spectral_norm(Module& module, const std::string& name, std::int64_t n_power_iterations, double eps,
                   optional<std::int64_t> dim) {
  const Variable weight = weight_of(module, name, "spectral_norm");
  EBB_CHECK(weight.dim() > 1, "spectral_norm: the weight must have two dimensions or more, got shape ",
            weight.sizes(), ".");
  register_spectral_norm(module, name, method_for(module, weight, n_power_iterations, eps, dim));
  detail::recompute(module);
}

void remove_spectral_norm(Module& module, const std::string& name) {
  check_has(module, name, "spectral_norm", "_orig");
  NoGradGuard no_grad;
  detail::recompute_evaluated(module);
  Module::StateDict& parameters = detail::ModuleAccess::parameters(module);
  const bool grad = parameters[name + "_orig"].requires_grad();
  const Variable weight = detail::no_longer_derived(module, name, grad);
  parameters.erase(name + "_orig");
  detail::ModuleAccess::buffers(module).erase(name + "_u");
  detail::ModuleAccess::buffers(module).erase(name + "_v");
  module.register_parameter(name, weight, grad);
}

}  // namespace ebb::nn::utils
