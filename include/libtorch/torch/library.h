// TORCH_LIBRARY: registration of functions by name. ebb ignores the registrations, because a program calls
// its functions directly. The macros only check that the registered objects are functions. Only libtorch can
// look up a name (torch.ops, the Dispatcher).
#pragma once

#include <ebb/core/api.h>

#include <c10/core/DispatchKey.h>
#include <torch/csrc/namespaces.h>

#include <string>
#include <type_traits>
#include <utility>

namespace ebb {

/// A function to register (torch::CppFunction).
class CppFunction {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, CppFunction>)
  CppFunction(F&&) {
    using Function = std::remove_pointer_t<std::decay_t<F>>;
    static_assert(std::is_function_v<Function> || std::is_class_v<Function>,
                  "TORCH_LIBRARY registers functions, &f or a lambda.");
  }
  static CppFunction makeFallthrough() {
    return CppFunction([] {});
  }
};
/// A function for one dispatch key.
template <class F>
CppFunction dispatch(c10::DispatchKey, F&& function) {
  return CppFunction(std::forward<F>(function));
}
/// Returns the text of a schema.
inline std::string schema(std::string text) { return text; }

/// The type of `m` in the body of TORCH_LIBRARY and similar macros (torch::Library).
class Library {
 public:
  Library& def(const std::string& /*schema*/) & { return *this; }
  Library& def(const std::string& /*name_or_schema*/, const CppFunction&) & { return *this; }
  Library& impl(const std::string& /*name*/, const CppFunction&) & { return *this; }
  Library& impl(const std::string& /*name*/, c10::DispatchKey, const CppFunction&) & { return *this; }
  Library& fallback(const CppFunction&) & { return *this; }
  template <class T>
  void class_(const std::string& /*name*/) {
    static_assert(sizeof(T) == 0, "ebb has no TorchScript, for which Library::class_ registers a class.");
  }
};

namespace detail {
struct RegisteredLibrary {
  explicit RegisteredLibrary(void (*body)(Library&)) {
    Library library;
    body(library);
  }
};
}  // namespace detail

}  // namespace ebb

#define TORCH_FN(function) (function)
#define TORCH_SELECTIVE_NAME(name) (name)
#define TORCH_SELECTIVE_SCHEMA(schema) (schema)

#define EBB_JOIN_NAMES(a, b) a##b
#define EBB_REGISTER_LIBRARY(name, m)                                               \
  static void name(::ebb::Library&);                                                \
  static const ::ebb::detail::RegisteredLibrary EBB_JOIN_NAMES(name, _done)(&name); \
  static void name(::ebb::Library& m)
#define EBB_LIBRARY_NAME(kind, ns, number) EBB_JOIN_NAMES(kind##ns##_, number)

/// Use as `TORCH_LIBRARY(my_ops, m) { m.def("f", &f); }` at namespace scope.
#define TORCH_LIBRARY(ns, m) EBB_REGISTER_LIBRARY(torch_library_##ns, m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) \
  EBB_REGISTER_LIBRARY(EBB_LIBRARY_NAME(torch_library_fragment_, ns, __COUNTER__), m)
#define TORCH_LIBRARY_IMPL(ns, key, m)                                                                 \
  [[maybe_unused]] static constexpr auto EBB_JOIN_NAMES(torch_library_key_##ns##_##key##_, __LINE__) = \
      ::c10::DispatchKey::key;                                                                         \
  EBB_REGISTER_LIBRARY(EBB_LIBRARY_NAME(torch_library_impl_##key##_, ns, __COUNTER__), m)
