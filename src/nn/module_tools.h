// What the modules share.
#pragma once

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

}  // namespace ebb::nn
