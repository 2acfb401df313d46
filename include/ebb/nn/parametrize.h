// Parametrizations: parameters that are computed from others (torch.nn.utils.parametrize).
#pragma once

#include <ebb/nn/module_holder.h>

#include <functional>

namespace ebb::nn::utils {

namespace parametrize {

/// A function from learned tensors, the originals, to the parameter that a module uses. Only the first
/// parametrization of a parameter may have several originals. Override clone() if the module is cloned.
class EBB_API Parametrization : public Module {
 public:
  virtual Variable forward(const variable_list& originals) = 0;
  /// Returns originals that forward() maps to `value` or to a close value. The default returns `value`
  /// itself.
  virtual variable_list right_inverse(const Variable& value);
};

using Map = std::function<Variable(const Variable&)>;

/// Replaces the parameter `name` of `module` with forward() of originals. The originals are named
/// "parametrizations.weight.original", or "...original0" and so on if there are several. They replace the
/// parameter in parameters() and state_dict(). A further parametrization is applied to the result of the
/// earlier ones. The module's member is computed again at each call of the module by its handle, by
/// Sequential or AnyModule; for ebb's own modules also by forward(). refresh() computes it between calls.
/// Register before creating an optimizer. Throws if the shape or dtype of the result differs from the
/// parameter, unless `unsafe`.
EBB_API void register_parametrization(Module& module, const std::string& name,
                                      std::shared_ptr<Parametrization> parametrization, bool unsafe = false);
/// Registers the function `map` as a parametrization. It has no right inverse, so the original is initially
/// the parameter.
EBB_API void register_parametrization(Module& module, const std::string& name, Map map, bool unsafe = false);
/// Returns whether the module, or its parameter `name`, is parametrized.
EBB_API bool is_parametrized(const Module& module, const std::string& name = std::string());
/// Makes `name` a plain parameter again, with its current value. Without leave_parametrized it gets the value
/// of the original, which must then be the only one.
EBB_API void remove_parametrizations(Module& module, const std::string& name, bool leave_parametrized = true);
/// Sets the originals to right_inverse(value) (Python's assignment to a parametrized attribute).
EBB_API void assign(Module& module, const std::string& name, const Variable& value);
/// Computes all parametrized members of the module tree from the current originals.
EBB_API void refresh(Module& module);

// Overloads of the functions above for handles of modules.
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

/// Parametrizes a weight as g v / |v|. The norm is over all dimensions except `dim`, or over all dimensions
/// without `dim` (Salimans & Kingma 2016; torch.nn.utils.parametrizations.weight_norm). original0 is g,
/// original1 is v.
EBB_API void weight_norm(Module& module, const std::string& name = "weight", optional<std::int64_t> dim = 0);
/// Parametrizes a weight as w / sigma. sigma is the largest singular value of w as a matrix with rows along
/// `dim` (default 0; 1 for transposed convolutions). Each call in training mode improves sigma with
/// n_power_iterations steps of power iteration (Miyato et al. 2018;
/// torch.nn.utils.parametrizations.spectral_norm). A vector becomes w / |w|.
EBB_API void spectral_norm(Module& module, const std::string& name = "weight",
                           std::int64_t n_power_iterations = 1, double eps = 1e-12,
                           optional<std::int64_t> dim = nullopt);
/// Parametrizes a matrix, or a batch of matrices (..., m, n), with orthonormal columns, or with orthonormal
/// rows if m < n (Lezcano-Casado 2019; torch.nn.utils.parametrizations.orthogonal). The parameter is a
/// function of the lower triangle L of the original:
/// - "matrix_exp": exp(L - L^T); the default for square matrices;
/// - "cayley": (I + A / 2) (I - A / 2)^-1 with A = L - L^T;
/// - "householder": a product of reflections with columns of L and signs on the diagonal; the default for
///   other matrices.
/// With use_trivialization the result is multiplied by a buffer "base". The original is initially -I, and
/// "base" is set so that the parameter is the weight itself if its columns are orthonormal, and otherwise the
/// Q of its QR decomposition. Without use_trivialization, only "householder" has an inverse. The other maps
/// replace the weight by its own image under the map. The dtype is Float or Double. Throws if the parameter
/// does not exist or has fewer than two dimensions.
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

/// parametrizations::weight_norm with PyTorch's older names weight_g and weight_v
/// (torch.nn.utils.weight_norm).
EBB_API void weight_norm(Module& module, const std::string& name = "weight", optional<std::int64_t> dim = 0);
EBB_API void remove_weight_norm(Module& module, const std::string& name = "weight");
/// parametrizations::spectral_norm with PyTorch's older names: weight_orig and the buffers weight_u and
/// weight_v, which are initially random (torch.nn.utils.spectral_norm).
EBB_API void spectral_norm(Module& module, const std::string& name = "weight",
                           std::int64_t n_power_iterations = 1, double eps = 1e-12,
                           optional<std::int64_t> dim = nullopt);
EBB_API void remove_spectral_norm(Module& module, const std::string& name = "weight");

// Overloads of the functions above for handles of modules. They return the handle.
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
