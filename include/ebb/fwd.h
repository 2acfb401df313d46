// Forward declarations for headers that pass tensors by reference, and checks of the compiler's options.
#pragma once

// After the #error, the include of a missing header stops the compiler. Otherwise the compiler would go on
// and print hundreds of errors after the one that explains the cause.
#if __cplusplus < 202002L
#error "ebb's headers are C++20: compile with -std=c++20, or link the CMake target ebb::ebb, which sets it."
#include <ebb/cannot_be_compiled_so>
#elif !defined(__cpp_rtti)
#error "ebb needs typeid and dynamic_cast: compile without -fno-rtti."
#include <ebb/cannot_be_compiled_so>
#elif !defined(__cpp_exceptions)
#error "ebb reports errors by exceptions: compile without -fno-exceptions."
#include <ebb/cannot_be_compiled_so>
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#error "ebb's interface uses std::string with the C++11 ABI: compile without -D_GLIBCXX_USE_CXX11_ABI=0."
#include <ebb/cannot_be_compiled_so>
#elif defined(_GLIBCXX_DEBUG) && !defined(EBB_GLIBCXX_DEBUG)
#error \
    "_GLIBCXX_DEBUG changes the containers in ebb's interface: compile without it, or build ebb with it too and define EBB_GLIBCXX_DEBUG."
#include <ebb/cannot_be_compiled_so>
#endif

namespace ebb {
class Variable;
using Tensor = Variable;
class NdArray;
class Scalar;
class Storage;
class TensorOptions;
namespace cuda {
class Stream;
}  // namespace cuda
namespace autograd {
class Node;
class SavedVariable;
}  // namespace autograd
}  // namespace ebb
