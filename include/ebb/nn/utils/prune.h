// Pruning: parameters multiplied by a mask (torch.nn.utils.prune).
#pragma once

#include <ebb/nn/module_holder.h>

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ebb::nn::utils::prune {

/// The amount to prune: a fraction in [0, 1], or a non-negative count. Other values throw.
class EBB_API Amount {
 public:
  template <std::floating_point T>
  Amount(T share) : Amount(static_cast<double>(share), true) {}
  template <std::integral T>
  Amount(T count) : Amount(static_cast<double>(count), false) {}
  /// Returns the count for `size` elements. A fraction is rounded to the nearest integer, halves to even.
  /// Throws if the count exceeds `size`.
  std::int64_t of(std::int64_t size) const;

 private:
  Amount(double amount, bool is_share);

  double amount_;
  bool is_share_;
};

/// A method that computes a mask. Derive from it and define compute_mask().
class EBB_API BasePruningMethod {
 public:
  /// The part of a pruned tensor on which a further mask is computed: the remaining elements, the channels
  /// along dim() with remaining elements, or the whole tensor.
  enum class Type { unstructured, structured, global };

  virtual ~BasePruningMethod();
  virtual Type type() const { return Type::unstructured; }
  /// Returns the dimension of the channels, for structured methods.
  virtual std::int64_t dim() const { return -1; }
  /// Returns a mask of ones and zeros in the shape of the importance scores `t`. It is zero wherever
  /// `default_mask` is zero. Before the first pruning `default_mask` consists of ones.
  virtual Variable compute_mask(const Variable& t, const Variable& default_mask) const = 0;
  /// Returns t times a mask computed from the importance scores. Without scores, the mask is computed from t
  /// itself.
  Variable prune(const Variable& t, const optional<Variable>& default_mask = nullopt,
                 const optional<Variable>& importance_scores = nullopt) const;
};

/// A sequence of methods. Its mask is the mask of the last method, computed on the elements that default_mask
/// keeps.
class EBB_API PruningContainer final : public BasePruningMethod {
 public:
  PruningContainer() = default;
  void add_pruning_method(std::shared_ptr<const BasePruningMethod> method);
  std::size_t size() const noexcept { return methods_.size(); }
  const BasePruningMethod& operator[](std::size_t i) const { return *methods_.at(i); }
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;

 private:
  std::vector<std::shared_ptr<const BasePruningMethod>> methods_;
};

/// Prunes nothing.
class EBB_API Identity final : public BasePruningMethod {
 public:
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;
};
/// Prunes random elements.
class EBB_API RandomUnstructured final : public BasePruningMethod {
 public:
  explicit RandomUnstructured(Amount amount) : amount_(amount) {}
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;

 private:
  Amount amount_;
};
/// Prunes the elements with the smallest absolute values.
class EBB_API L1Unstructured final : public BasePruningMethod {
 public:
  explicit L1Unstructured(Amount amount) : amount_(amount) {}
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;

 private:
  Amount amount_;
};
/// Prunes random channels along a dimension.
class EBB_API RandomStructured final : public BasePruningMethod {
 public:
  explicit RandomStructured(Amount amount, std::int64_t dim = -1) : amount_(amount), dim_(dim) {}
  Type type() const override { return Type::structured; }
  std::int64_t dim() const override { return dim_; }
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;

 private:
  Amount amount_;
  std::int64_t dim_;
};
/// Prunes the channels along a dimension with the smallest norms of order n.
class EBB_API LnStructured final : public BasePruningMethod {
 public:
  LnStructured(Amount amount, double n, std::int64_t dim = -1) : amount_(amount), n_(n), dim_(dim) {}
  Type type() const override { return Type::structured; }
  std::int64_t dim() const override { return dim_; }
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;

 private:
  Amount amount_;
  double n_;
  std::int64_t dim_;
};
/// Prunes the elements where a mask is zero.
class EBB_API CustomFromMask final : public BasePruningMethod {
 public:
  explicit CustomFromMask(Variable mask) : mask_(std::move(mask)) {}
  Type type() const override { return Type::global; }
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;

 private:
  Variable mask_;
};

/// Replaces the parameter `name` ("weight") of `module` with "weight_orig" times the buffer "weight_mask".
/// The original replaces the parameter in parameters() and state_dict(). The module's member is computed
/// again at each call of the module, like a parametrized parameter (parametrize.h). parametrize::refresh()
/// computes it between calls. A pruned parameter can be pruned further: methods then use its remaining
/// elements. If `importance_scores` (in the parameter's shape) are given, the method uses them in place of
/// the values. Register before creating an optimizer.
EBB_API void apply(Module& module, const std::string& name, const BasePruningMethod& method,
                   const optional<Variable>& importance_scores = nullopt);
/// Makes `name` a plain parameter again, with the pruned values. Throws if it is not pruned.
EBB_API void remove(Module& module, const std::string& name);
/// Returns whether any parameter in the module tree is pruned.
EBB_API bool is_pruned(const Module& module);

/// Parameters, each identified by module and name.
using Parameters = std::vector<std::pair<std::shared_ptr<Module>, std::string>>;
/// Prunes all parameters together with an unstructured method. A parameter with missing or undefined
/// importance scores is its own scores.
EBB_API void global_unstructured(const Parameters& parameters, const BasePruningMethod& method,
                                 const std::vector<Variable>& importance_scores = {});

// Python's functions for handles of modules. They return the handle.

template <class Impl>
ModuleHolder<Impl> identity(const ModuleHolder<Impl>& module, const std::string& name) {
  apply(*module.ptr(), name, Identity());
  return module;
}
template <class Impl>
ModuleHolder<Impl> random_unstructured(const ModuleHolder<Impl>& module, const std::string& name,
                                       Amount amount) {
  apply(*module.ptr(), name, RandomUnstructured(amount));
  return module;
}
template <class Impl>
ModuleHolder<Impl> l1_unstructured(const ModuleHolder<Impl>& module, const std::string& name, Amount amount,
                                   const optional<Variable>& importance_scores = nullopt) {
  apply(*module.ptr(), name, L1Unstructured(amount), importance_scores);
  return module;
}
template <class Impl>
ModuleHolder<Impl> random_structured(const ModuleHolder<Impl>& module, const std::string& name, Amount amount,
                                     std::int64_t dim) {
  apply(*module.ptr(), name, RandomStructured(amount, dim));
  return module;
}
template <class Impl>
ModuleHolder<Impl> ln_structured(const ModuleHolder<Impl>& module, const std::string& name, Amount amount,
                                 double n, std::int64_t dim,
                                 const optional<Variable>& importance_scores = nullopt) {
  apply(*module.ptr(), name, LnStructured(amount, n, dim), importance_scores);
  return module;
}
template <class Impl>
ModuleHolder<Impl> custom_from_mask(const ModuleHolder<Impl>& module, const std::string& name,
                                    const Variable& mask) {
  apply(*module.ptr(), name, CustomFromMask(mask));
  return module;
}
template <class Impl>
void apply(const ModuleHolder<Impl>& module, const std::string& name, const BasePruningMethod& method,
           const optional<Variable>& importance_scores = nullopt) {
  apply(static_cast<Module&>(*module.ptr()), name, method, importance_scores);
}
template <class Impl>
void remove(const ModuleHolder<Impl>& module, const std::string& name) {
  remove(static_cast<Module&>(*module.ptr()), name);
}
template <class Impl>
bool is_pruned(const ModuleHolder<Impl>& module) {
  return is_pruned(static_cast<const Module&>(*module.ptr()));
}

}  // namespace ebb::nn::utils::prune
