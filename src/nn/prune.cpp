// prune: pruning methods, their masks, and the pruned parameters.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/utils.h>
#include <ebb/nn/utils/prune.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/hooks.h"

#include <cmath>

namespace ebb::nn::utils::prune {
namespace {

/// Returns the default mask with zeros at `indices` of the flattened tensor.
Variable without(const Variable& default_mask, const Variable& indices) {
  Variable mask = default_mask.clone(MemoryFormat::Contiguous);
  mask.view({-1}).index_fill_(0, indices, 0);
  return mask;
}

std::int64_t checked_dim(const char* method, const Variable& t, std::int64_t dim) {
  EBB_CHECK(t.dim() > 1, method,
            ": Structured pruning can only be applied to multidimensional tensors. Found tensor of shape ",
            t.sizes(), " with ", t.dim(), " dims.");
  EBB_CHECK(dim >= -t.dim() && dim < t.dim(), method, ": Invalid index ", dim, " for tensor of size ",
            t.sizes(), ".");
  return dim < 0 ? dim + t.dim() : dim;
}

std::vector<std::int64_t> other_dims(const Variable& t, std::int64_t dim) {
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < t.dim(); ++d)
    if (d != dim) others.push_back(d);
  return others;
}

/// Returns `default_mask` with all channels along `dim` set to zero except the channels `indices`.
Variable of_channels(const Variable& t, const Variable& default_mask, std::int64_t dim,
                     const Variable& indices) {
  return zeros_like(t, TensorOptions().requires_grad(false)).index_fill_(dim, indices, 1) *
         default_mask.to(t.dtype());
}

/// Returns the mask after one more method: a copy of `before` in which the entries that the method prunes are
/// zero.
Variable combined(const BasePruningMethod& method, const Variable& t, const Variable& before) {
  using Type = BasePruningMethod::Type;
  Variable mask = before.to(t.dtype(), false, /*copy=*/true);
  switch (method.type()) {
    case Type::unstructured: {
      const Variable left = before == 1;
      const Variable part = method.compute_mask(t.masked_select(left), before.masked_select(left));
      return mask.masked_scatter_(left, part.to(t.dtype()));
    }
    case Type::structured: {
      const std::int64_t dim = checked_dim("prune", t, method.dim());
      const Variable left = (before.sum(other_dims(t, dim)) != 0).nonzero().flatten();
      const Variable part = method.compute_mask(t.index_select(dim, left), before.index_select(dim, left));
      return mask.index_copy_(dim, left, part.to(t.dtype()));
    }
    case Type::global:
      break;
  }
  return method.compute_mask(t, before).to(t.dtype());
}

Variable scores_of(const Variable& t, const optional<Variable>& importance_scores) {
  if (!importance_scores || !importance_scores->defined()) return t;
  EBB_CHECK(importance_scores->sizes() == t.sizes(),
            "prune: importance_scores should have the same shape as the parameter, got ",
            importance_scores->sizes(), " and ", t.sizes(), ".");
  return importance_scores->detach();
}

bool is_pruned(const Module& module, const std::string& name) {
  return detail::is_derived(module, name) &&
         detail::ModuleAccess::parameters(module).contains(name + "_orig") &&
         detail::ModuleAccess::buffers(module).contains(name + "_mask");
}

/// Returns the parameter's current value and its mask. A parameter that is not pruned has a mask of ones.
std::pair<Variable, Variable> pruned(const Module& module, const std::string& name) {
  const Module::StateDict& parameters = detail::ModuleAccess::parameters(module);
  if (is_pruned(module, name)) {
    const Variable mask = *detail::ModuleAccess::buffers(module).find(name + "_mask");
    return {parameters.find(name + "_orig")->detach() * mask, mask};
  }
  EBB_CHECK(!detail::is_derived(module, name), "prune: '", name, "' of ", module.name(),
            " is computed from other parameters. Prune these, or remove its parametrization first.");
  const Variable* const found = parameters.find(name);
  EBB_CHECK(found && found->defined(), "prune: ", module.name(), " has no parameter '", name, "'.");
  return {found->detach(), ones_like(found->detach())};
}

// Replaces the parameter of a module, or of the fresh copy of a module, by the original, the mask and their
// product.
void register_pruning(Module& module, const std::string& name, const Variable& mask) {
  const Variable target = detail::take_parameter(module, name);
  module.register_parameter(name + "_orig", target.detach().clone(), target.requires_grad());
  module.register_buffer(name + "_mask", mask);
  const auto compute = [name](Module& m) {
    const Variable& original = *detail::ModuleAccess::parameters(m).find(name + "_orig");
    return detail::ModuleAccess::buffers(m).find(name + "_mask")->to(original.dtype()) * original;
  };
  const auto repeat = [name](Module& copy) { register_pruning(copy, name, pruned(copy, name).second); };
  detail::derive(module, {name, target, compute, repeat});
}

}  // namespace

Amount::Amount(double amount, bool is_share) : amount_(amount), is_share_(is_share) {
  EBB_CHECK(amount >= 0 && (!is_share || amount <= 1), "prune: amount=", amount,
            " should be a fraction between 0.0 and 1.0, or a count that is not negative.");
}

std::int64_t Amount::of(std::int64_t size) const {
  if (is_share_) return static_cast<std::int64_t>(std::nearbyint(amount_ * static_cast<double>(size)));
  const auto count = static_cast<std::int64_t>(amount_);
  EBB_CHECK(count <= size, "prune: amount=", count, " should be at most ", size,
            ", the number of elements to prune.");
  return count;
}

BasePruningMethod::~BasePruningMethod() = default;

Variable BasePruningMethod::prune(const Variable& t, const optional<Variable>& default_mask,
                                  const optional<Variable>& importance_scores) const {
  const Variable mask = default_mask ? *default_mask : ones_like(t.detach());
  return t * compute_mask(scores_of(t.detach(), importance_scores), mask);
}

void PruningContainer::add_pruning_method(std::shared_ptr<const BasePruningMethod> method) {
  EBB_CHECK(method, "PruningContainer: the pruning method is null.");
  methods_.push_back(std::move(method));
}
Variable PruningContainer::compute_mask(const Variable& t, const Variable& default_mask) const {
  EBB_CHECK(!methods_.empty(), "PruningContainer: there is no method. Call add_pruning_method() first.");
  return combined(*methods_.back(), t, default_mask);
}

Variable Identity::compute_mask(const Variable&, const Variable& default_mask) const { return default_mask; }

Variable RandomUnstructured::compute_mask(const Variable& t, const Variable& default_mask) const {
  const std::int64_t count = amount_.of(t.numel());
  if (count == 0) return default_mask.clone();
  return without(default_mask, std::get<1>(rand_like(t.detach()).view({-1}).topk(count)));
}

Variable L1Unstructured::compute_mask(const Variable& t, const Variable& default_mask) const {
  const std::int64_t count = amount_.of(t.numel());
  if (count == 0) return default_mask.clone();
  return without(default_mask,
                 std::get<1>(t.detach().abs().reshape({-1}).topk(count, -1, /*largest=*/false)));
}

Variable RandomStructured::compute_mask(const Variable& t, const Variable& default_mask) const {
  const std::int64_t dim = checked_dim("RandomStructured", t, dim_), count = amount_.of(t.size(dim));
  if (count == 0) return default_mask;
  const Variable numbers = rand({t.size(dim)});
  const Variable kept = (numbers > std::get<0>(numbers.kthvalue(count))).nonzero().flatten();
  return of_channels(t.detach(), default_mask, dim, kept.to(t.device()));
}

Variable LnStructured::compute_mask(const Variable& t, const Variable& default_mask) const {
  const std::int64_t dim = checked_dim("LnStructured", t, dim_), count = amount_.of(t.size(dim));
  if (count == 0) return default_mask;
  const Variable norms = t.detach().norm(n_, other_dims(t, dim));
  return of_channels(t.detach(), default_mask, dim, std::get<1>(norms.topk(t.size(dim) - count)));
}

Variable CustomFromMask::compute_mask(const Variable& t, const Variable& default_mask) const {
  EBB_CHECK(mask_.defined() && mask_.sizes() == t.sizes(),
            "CustomFromMask: the mask and the parameter must be of one shape, got ", mask_, " and shape ",
            t.sizes(), ".");
  return default_mask * mask_.to(default_mask.options());
}

void apply(Module& module, const std::string& name, const BasePruningMethod& method,
           const optional<Variable>& importance_scores) {
  NoGradGuard no_grad;
  const auto [value, before] = pruned(module, name);
  const Variable scores = scores_of(value, importance_scores);
  if (is_pruned(module, name)) {
    detail::ModuleAccess::buffers(module)[name + "_mask"].copy_(combined(method, scores, before));
  } else {
    register_pruning(module, name, method.compute_mask(scores, before).to(value.dtype()));
  }
  detail::recompute(module);
}

void remove(Module& module, const std::string& name) {
  EBB_CHECK(is_pruned(module, name), "prune: Parameter '", name, "' of module ", module.name(),
            " has to be pruned before pruning can be removed.");
  NoGradGuard no_grad;
  const Variable value = pruned(module, name).first;
  Module::StateDict& parameters = detail::ModuleAccess::parameters(module);
  const bool grad = parameters[name + "_orig"].requires_grad();
  const Variable weight = detail::no_longer_derived(module, name, grad, value);
  parameters.erase(name + "_orig");
  detail::ModuleAccess::buffers(module).erase(name + "_mask");
  module.register_parameter(name, weight, grad);
}

bool is_pruned(const Module& module) {
  for (const std::shared_ptr<Module>& each : module.modules(/*include_self=*/false))
    if (is_pruned(*each)) return true;
  for (const auto& item : detail::ModuleAccess::buffers(module)) {
    constexpr std::string_view kMask = "_mask";
    const std::string& buffer = item.key();
    if (buffer.ends_with(kMask) && is_pruned(module, buffer.substr(0, buffer.size() - kMask.size())))
      return true;
  }
  return false;
}

void global_unstructured(const Parameters& parameters, const BasePruningMethod& method,
                         const std::vector<Variable>& importance_scores) {
  EBB_CHECK(method.type() == BasePruningMethod::Type::unstructured,
            "global_unstructured: only unstructured methods are supported.");
  EBB_CHECK(importance_scores.empty() || importance_scores.size() == parameters.size(),
            "global_unstructured: there are ", std::uint64_t{importance_scores.size()},
            " importance scores for ", std::uint64_t{parameters.size()}, " parameters.");
  NoGradGuard no_grad;
  std::vector<Variable> scores, before;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EBB_CHECK(parameters[i].first, "global_unstructured: the module of '", parameters[i].second,
              "' is null.");
    const auto [value, mask] = pruned(*parameters[i].first, parameters[i].second);
    scores.push_back(scores_of(value, importance_scores.empty() ? Variable() : importance_scores[i]));
    before.push_back(mask);
  }
  const Variable mask = combined(method, parameters_to_vector(scores), parameters_to_vector(before));
  std::int64_t at = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t count = scores[i].numel();
    apply(*parameters[i].first, parameters[i].second,
          CustomFromMask(mask.narrow(0, at, count).view(scores[i].sizes())));
    at += count;
  }
}

}  // namespace ebb::nn::utils::prune
