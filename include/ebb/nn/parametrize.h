// Parametrizations: parameters that are computed from others (torch.nn.utils.parametrize).
#pragma once

#include <ebb/nn/module_holder.h>

#include <functional>

namespace ebb::nn::utils {

namespace parametrize {

/// A map from the tensors that are learnt, the originals, to the one that a module uses. Only the first of
/// several on one parameter may have more than one original. Override clone() for modules that are cloned.
class EBB_API Parametrization : public Module {
 public:
  virtual Variable forward(const variable_list& originals) = 0;
  /// The originals whose image is `value`, or is near it; `value` itself unless overridden.
  virtual variable_list right_inverse(const Variable& value);
};

using Map = std::function<Variable(const Variable&)>;

/// Lets `module` use forward() of originals in place of its parameter `name`: originals are
/// "parametrizations.weight.original", or "...original0" and so on where there are several, and take the
/// parameter's place in parameters() and state_dict(); a further parametrization is applied to what the
/// earlier ones give. The module's member follows at each call of the module (by its handle, by Sequential or
/// AnyModule; of ebb's own modules also by forward()); refresh() computes it in between. Register before an
/// optimizer is made. Throws where the image has another shape or dtype than the parameter, unless `unsafe`.
EBB_API void register_parametrization(Module& module, const std::string& name,
                                      std::shared_ptr<Parametrization> parametrization, bool unsafe = false);
/// The same of a function without a right inverse: the original starts from the parameter.
EBB_API void register_parametrization(Module& module, const std::string& name, Map map, bool unsafe = false);
/// Whether the module has a parametrization, or its parameter `name` has one.
EBB_API bool is_parametrized(const Module& module, const std::string& name = std::string());
/// Makes `name` a parameter again: with the numbers it has now, or, without leave_parametrized, the
/// original's, of which there must be one.
EBB_API void remove_parametrizations(Module& module, const std::string& name, bool leave_parametrized = true);
/// Finds the originals whose image is `value` (Python's assignment to a parametrized attribute).
EBB_API void assign(Module& module, const std::string& name, const Variable& value);
/// Computes all that is parametrized in the module and below it from the originals as they are now.
EBB_API void refresh(Module& module);

// Handles of modules.
template <class Impl, class What>
void register_parametrization(const ModuleHolder<Impl>& module, const std::string& name, What&& what,
                              bool unsafe = false) {
  register_parametrization(*module.ptr(), name, std::forward<What>(what), unsafe);
}
template <class Impl>
void remove_parametrizations(const ModuleHolder<Impl>& module, const std::string& name,
                             bool leave_parametrized = true) {
  remove_parametrizations(*module.ptr(), name, leave_parametrized);
}

}  // namespace parametrize

namespace parametrizations {

/// g v / |v|, the norm over all dimensions but `dim`, or over all of them (Salimans & Kingma 2016;
/// torch.nn.utils.parametrizations.weight_norm): original0 is g, original1 v.
EBB_API void weight_norm(Module& module, const std::string& name = "weight", optional<std::int64_t> dim = 0);
/// w / sigma, the largest singular value of w as a matrix whose rows are those of `dim`: 0, but 1 of
/// transposed convolutions. It is found by n_power_iterations steps at each call in training (Miyato et al.
/// 2018; torch.nn.utils.parametrizations.spectral_norm). Of a vector, w / |w|.
EBB_API void spectral_norm(Module& module, const std::string& name = "weight",
                           std::int64_t n_power_iterations = 1, double eps = 1e-12,
                           optional<std::int64_t> dim = nullopt);
/// A matrix, or a batch of them (..., m, n), with orthonormal columns, or rows where m < n. It is made from
/// the original's lower triangle by one of three maps: "matrix_exp", exp(L - L^T); "cayley",
/// (I + A / 2) (I - A / 2)^-1 of A = L - L^T; or "householder", a product of reflections with columns of L
/// and signs on the diagonal. nullopt is the first for square matrices, the last for others. With
/// use_trivialization the result is multiplied by a buffer "base", and the original starts from -I, which
/// stands for the weight itself, if its columns are orthonormal, or for the Q of its QR decomposition
/// (Lezcano-Casado 2019). Without it only "householder" has an inverse: by the others the weight becomes what
/// the map makes of it. Float and Double; errors are those of a parameter that is none, or has fewer than two
/// dimensions (torch.nn.utils.parametrizations.orthogonal).
EBB_API void orthogonal(Module& module, const std::string& name = "weight",
                        const optional<std::string>& orthogonal_map = nullopt,
                        bool use_trivialization = true);

template <class Impl, class... Args>
void weight_norm(const ModuleHolder<Impl>& module, Args&&... args) {
  weight_norm(static_cast<Module&>(*module.ptr()), std::forward<Args>(args)...);
}
template <class Impl, class... Args>
void spectral_norm(const ModuleHolder<Impl>& module, Args&&... args) {
  spectral_norm(static_cast<Module&>(*module.ptr()), std::forward<Args>(args)...);
}
template <class Impl, class... Args>
void orthogonal(const ModuleHolder<Impl>& module, Args&&... args) {
  orthogonal(static_cast<Module&>(*module.ptr()), std::forward<Args>(args)...);
}

}  // namespace parametrizations

/// As parametrizations::weight_norm, under the names that PyTorch used before: weight_g and weight_v
/// (torch.nn.utils.weight_norm).
EBB_API void weight_norm(Module& module, const std::string& name = "weight", optional<std::int64_t> dim = 0);
EBB_API void remove_weight_norm(Module& module, const std::string& name = "weight");
/// As parametrizations::spectral_norm, under the names that PyTorch used before: weight_orig and the buffers
/// weight_u and weight_v, which start from random numbers (torch.nn.utils.spectral_norm).
EBB_API void spectral_norm(Module& module, const std::string& name = "weight",
                           std::int64_t n_power_iterations = 1, double eps = 1e-12,
                           optional<std::int64_t> dim = nullopt);
EBB_API void remove_spectral_norm(Module& module, const std::string& name = "weight");

// Handles of modules, which they return.
template <class Impl, class... Args>
ModuleHolder<Impl> weight_norm(const ModuleHolder<Impl>& module, Args&&... args) {
  weight_norm(static_cast<Module&>(*module.ptr()), std::forward<Args>(args)...);
  return module;
}
template <class Impl, class... Args>
ModuleHolder<Impl> spectral_norm(const ModuleHolder<Impl>& module, Args&&... args) {
  spectral_norm(static_cast<Module&>(*module.ptr()), std::forward<Args>(args)...);
  return module;
}
template <class Impl>
ModuleHolder<Impl> remove_weight_norm(const ModuleHolder<Impl>& module, const std::string& name = "weight") {
  remove_weight_norm(static_cast<Module&>(*module.ptr()), name);
  return module;
}
template <class Impl>
ModuleHolder<Impl> remove_spectral_norm(const ModuleHolder<Impl>& module,
                                        const std::string& name = "weight") {
  remove_spectral_norm(static_cast<Module&>(*module.ptr()), name);
  return module;
}

}  // namespace ebb::nn::utils
