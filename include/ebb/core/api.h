// What ebb needs of the compiler, and symbol visibility: everything in ebb is hidden unless marked EBB_API.
#pragma once

// The include that does not exist ends the compilation: hundreds of errors would follow the one that says
// why.
#if __cplusplus < 202002L
#error \
    "ebb's headers are C++20: compile with -std=c++20, or link the CMake target ebb::ebb, which asks for it."
#include <ebb/cannot_be_compiled_so>
#elif !defined(__cpp_rtti)
#error "ebb needs typeid and dynamic_cast: compile without -fno-rtti."
#include <ebb/cannot_be_compiled_so>
#elif !defined(__cpp_exceptions)
#error "ebb reports errors by exceptions: compile without -fno-exceptions."
#include <ebb/cannot_be_compiled_so>
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#error \
    "ebb has std::string in its interface, in the ABI of C++11: compile without -D_GLIBCXX_USE_CXX11_ABI=0."
#include <ebb/cannot_be_compiled_so>
#elif defined(_GLIBCXX_DEBUG) && !defined(EBB_GLIBCXX_DEBUG)
#error \
    "_GLIBCXX_DEBUG makes other containers of those in ebb's interface: compile without it, or build ebb with it too and define EBB_GLIBCXX_DEBUG."
#include <ebb/cannot_be_compiled_so>
#endif

/// The result refers into the object: clang warns where that is a temporary.
#if defined(__clang__)
#define EBB_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define EBB_LIFETIMEBOUND
#endif

#if defined(EBB_STATIC)
#define EBB_API
#else
#define EBB_API __attribute__((visibility("default")))
#endif
