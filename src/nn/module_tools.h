// Helpers of all modules: printed names, paths in errors, and handles of tensors.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/module.h>

#include <type_traits>
#include <typeinfo>
#include <vector>

namespace ebb::nn {

/// Replaces the namespace "ebb" in a name by the one that the program prints (detail::set_printed_namespace).
std::string named_by_program(std::string name);
/// Returns the C++ name of a class with the program's namespace. For ConvImpl<2> it is "ebb::nn::Conv2dImpl".
std::string class_name(const std::type_info& type);
/// Returns the name of the handle of a module: "ebb::nn::Conv2d".
std::string handle_name(const std::type_info& module);

/// Returns the path for an error message, "'encoder.0', ", or an empty string for a root.
std::string quoted_path(const Module& module);
/// Rethrows the error of the current handler with the module's path and options in its message.
[[noreturn]] void rethrow_at(const Module& module);

/// Returns whether the module is a normalisation with running statistics, and therefore has the buffer
/// "num_batches_tracked".
bool counts_batches(const Module& module);

/// Recomputes the derived tensors of the module, unless a call of the module that is running has already done
/// so.
void recompute_unless_called(const Module& module);

/// Calls the module's observers with the tensors of the result of its forward.
void observe_tensors(const Module& module, const std::vector<Variable*>& outputs);
template <class Result>
[[gnu::noinline, gnu::cold]] void observe(const Module& module, Result& result) {
  std::vector<Variable*> outputs;
  detail::gather(result, outputs);
  observe_tensors(module, outputs);
}

/// Runs a module's forward. If it throws an error, the message names the module in which the error happened.
template <class Body>
decltype(auto) at_path(const Module& module, Body&& body) {
  const detail::ModuleRange range(module);
  try {
    if (module.has_hooks()) [[unlikely]]
      recompute_unless_called(module);
    if constexpr (detail::carries_tensors<std::remove_cvref_t<decltype(body())>>) {
      decltype(auto) result = body();
      if (module.has_hooks()) [[unlikely]]
        observe(module, result);
      return result;
    } else {
      return body();
    }
  } catch (const Error&) {
    rethrow_at(module);
  }
}

/// Returns another handle to the same elements. A module's to() and clone() replace the data of its
/// registered tensors. Without another handle, this would also change the caller's tensor, and the other
/// modules that received the same tensor.
inline Variable other_handle(const Variable& x) {
  return x.defined() ? x.detach().set_requires_grad(x.requires_grad()) : x;
}

/// Returns the tensor that a module's reset() registers for the option `x`; `current` is the module's current
/// tensor. If x requires a gradient, reset() registers x itself, so that x receives the gradient. The copy of
/// a module already has a tensor, and therefore registers another handle.
inline Variable own_handle(const Variable& x, const Variable& current) {
  return x.defined() && x.requires_grad() && !current.defined() ? x : other_handle(x);
}

}  // namespace ebb::nn
