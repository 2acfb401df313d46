// Pruning: parameters of which a mask leaves a part (torch.nn.utils.prune).
#pragma once

#include <ebb/nn/module_holder.h>

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ebb::nn::utils::prune {

/// How much to prune: a share between 0 and 1, or a number that is not negative; others throw.
class EBB_API Amount {
 public:
  template <std::floating_point T>
  Amount(T share) : Amount(static_cast<double>(share), true) {}
  template <std::integral T>
  Amount(T count) : Amount(static_cast<double>(count), false) {}
  /// The amount of `size`; a share is rounded to the nearest, halves to even. Throws where there are fewer.
  std::int64_t of(std::int64_t size) const;

 private:
  Amount(double amount, bool is_share);

  double amount_;
  bool is_share_;
};

/// A method computes a mask. Derive, and write compute_mask().
class EBB_API BasePruningMethod {
 public:
  /// On what a further mask of a pruned tensor is computed: the numbers that are left, the channels along
  /// dim() of which something is left, or the whole tensor.
  enum class Type { unstructured, structured, global };

  virtual ~BasePruningMethod();
  virtual Type type() const { return Type::unstructured; }
  /// The dimension of the channels of a structured method.
  virtual std::int64_t dim() const { return -1; }
  /// Ones and zeros in the shape of the importance scores `t`; where `default_mask`, which is one before the
  /// first pruning, is zero, zeros.
  virtual Variable compute_mask(const Variable& t, const Variable& default_mask) const = 0;
  /// t times a mask that is computed by the scores, or by t itself.
  Variable prune(const Variable& t, const optional<Variable>& default_mask = nullopt,
                 const optional<Variable>& importance_scores = nullopt) const;
};

/// Several methods, one after the other: its mask is that of the last on what the default mask leaves.
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
/// Prunes numbers at random.
class EBB_API RandomUnstructured final : public BasePruningMethod {
 public:
  explicit RandomUnstructured(Amount amount) : amount_(amount) {}
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;

 private:
  Amount amount_;
};
/// Prunes the smallest numbers.
class EBB_API L1Unstructured final : public BasePruningMethod {
 public:
  explicit L1Unstructured(Amount amount) : amount_(amount) {}
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;

 private:
  Amount amount_;
};
/// Prunes channels along a dimension at random.
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
/// Prunes the channels along a dimension whose norms of order n are the smallest.
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
/// Prunes where a mask is zero.
class EBB_API CustomFromMask final : public BasePruningMethod {
 public:
  explicit CustomFromMask(Variable mask) : mask_(std::move(mask)) {}
  Type type() const override { return Type::global; }
  Variable compute_mask(const Variable& t, const Variable& default_mask) const override;

 private:
  Variable mask_;
};

/// Lets `module` use "weight_orig" times the buffer "weight_mask" in place of its parameter `name`
/// ("weight"), whose place the original takes in parameters() and state_dict(). The module's member follows
/// at each call of the module, as of a parametrized one (parametrize.h), and parametrize::refresh() computes
/// it in between. A pruned parameter is pruned further: methods see what is left of it. `importance_scores`,
/// of its shape, tell what is kept in place of the numbers themselves. Register before an optimizer is made.
EBB_API void apply(Module& module, const std::string& name, const BasePruningMethod& method,
                   const optional<Variable>& importance_scores = nullopt);
/// Makes `name` a parameter again, with the numbers that are left. Throws if it is not pruned.
EBB_API void remove(Module& module, const std::string& name);
/// Whether a parameter of the module, or of one in it, is pruned.
EBB_API bool is_pruned(const Module& module);

/// Parameters by their modules and names.
using Parameters = std::vector<std::pair<std::shared_ptr<Module>, std::string>>;
/// Prunes all of them together by an unstructured method. An importance score that is undefined is the
/// parameter itself; none needs to be given.
EBB_API void global_unstructured(const Parameters& parameters, const BasePruningMethod& method,
                                 const std::vector<Variable>& importance_scores = {});

// Python's functions, of handles of modules, which they return.

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
