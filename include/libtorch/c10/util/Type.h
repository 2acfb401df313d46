// Readable names of types.
#pragma once

#include <ebb/nn/any_module.h>

#include <torch/csrc/namespaces.h>

#include <string>
#include <typeinfo>

namespace c10 {

template <class T>
std::string demangle_type() {
  return ebb::nn::detail::type_name(typeid(T));
}

}  // namespace c10
