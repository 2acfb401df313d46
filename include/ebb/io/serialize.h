// Saving and loading modules, optimizers and tensors, as safetensors files.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/io/safetensors.h>
#include <ebb/nn/module.h>
#include <ebb/nn/module_holder.h>
#include <ebb/optim/optimizer.h>

#include <memory>
#include <string>
#include <vector>

namespace ebb {

/// Writes a module's parameters and buffers under their state_dict names.
EBB_API void save(const nn::Module& module, const std::string& path);
/// Copies a file's tensors into the module's parameters and buffers by name. Missing, unexpected and misshaped names are
/// an error that lists them with their nearest names; nothing is changed then.
EBB_API void load(nn::Module& module, const std::string& path);

/// Writes an optimizer's state (moments, step counts) and the options of its groups.
EBB_API void save(const optim::Optimizer& optimizer, const std::string& path);
EBB_API void load(optim::Optimizer& optimizer, const std::string& path);

/// One tensor, under the name "tensor".
EBB_API void save(const Variable& tensor, const std::string& path);
EBB_API void load(Variable& tensor, const std::string& path);
/// Several, under "0", "1", ...
EBB_API void save(const std::vector<Variable>& tensors, const std::string& path);
EBB_API void load(std::vector<Variable>& tensors, const std::string& path);

template <class Module>
  requires std::is_base_of_v<nn::Module, Module>
void save(const std::shared_ptr<Module>& module, const std::string& path) {
  save(static_cast<const nn::Module&>(*module), path);
}
template <class Module>
  requires std::is_base_of_v<nn::Module, Module>
void load(std::shared_ptr<Module>& module, const std::string& path) {
  load(static_cast<nn::Module&>(*module), path);
}
template <class Impl>
void save(const nn::ModuleHolder<Impl>& module, const std::string& path) {
  save(static_cast<const nn::Module&>(*module), path);
}
template <class Impl>
void load(nn::ModuleHolder<Impl>& module, const std::string& path) {
  load(static_cast<nn::Module&>(*module), path);
}

}  // namespace ebb
