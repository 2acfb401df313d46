// What the modules share.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/module.h>

#include <typeinfo>

namespace ebb::nn {

/// A name with the namespace "ebb" as the program calls it (detail::set_printed_namespace).
std::string named_by_program(std::string name);
/// A class as C++ has it, but "ebb::nn::Conv2dImpl" for ConvImpl<2>; its namespace as the program calls it.
std::string class_name(const std::type_info& type);
/// What users call the handle of a library's module: "ebb::nn::Conv2d".
std::string handle_name(const std::type_info& module);

/// "'encoder.0', " for an error; empty for a root.
std::string quoted_path(const Module& module);
/// Within a handler: throws the error anew, with the module's path and options.
[[noreturn]] void rethrow_at(const Module& module);

/// Is it a normalisation that keeps running statistics, with "num_batches_tracked" among its buffers?
bool counts_batches(const Module& module);

/// Computes anew what is derived from parameters, unless the call under way has done so.
void recompute_unless_called(const Module& module);

/// Runs a module's forward; what it throws says in which module of the tree it happened.
template <class Body>
decltype(auto) at_path(const Module& module, Body&& body) {
  const detail::ModuleRange range(module);
  try {
    if (module.has_hooks()) [[unlikely]]
      recompute_unless_called(module);
    return body();
  } catch (const Error&) {
    rethrow_at(module);
  }
}

/// Another handle to the same elements: to() and clone() of the module replace the data of what it registers,
/// and must leave the tensor of the caller, and those of other modules that were given it, as they are.
inline Variable other_handle(const Variable& x) {
  return x.defined() ? x.detach().set_requires_grad(x.requires_grad()) : x;
}

/// The tensor that a module's reset() makes of its option; `current` is the one that it has. A tensor that
/// needs a gradient is taken itself, so that the gradient arrives, but not by the copy of a module that has
/// it.
inline Variable own_handle(const Variable& x, const Variable& current) {
  return x.defined() && x.requires_grad() && !current.defined() ? x : other_handle(x);
}

}  // namespace ebb::nn
