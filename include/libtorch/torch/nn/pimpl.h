// TORCH_MODULE: declares the handle of a module class.
#pragma once

#include <ebb/nn/module_holder.h>

#include <c10/macros/Macros.h>
#include <torch/arg.h>
#include <torch/csrc/namespaces.h>

/// Declares the class `Name`, a shared pointer to an `ImplType` with the constructors of `ImplType`.
#define TORCH_MODULE_IMPL(Name, ImplType)                  \
  class Name : public ::ebb::nn::ModuleHolder<ImplType> {  \
   public:                                                 \
    using ::ebb::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl C10_UNUSED = ImplType;                      \
  }
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
#define TORCH_UNUSED_EXCEPT_CUDA C10_UNUSED
