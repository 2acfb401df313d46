// CallSite: the line of a program that calls a function.
#pragma once

#include <cstdint>

namespace ebb {

/// A default argument that records the caller's file and line for error messages. It uses the two builtins
/// behind std::source_location, which clang 14 lacks.
struct CallSite {
  const char* file = "";
  std::uint_least32_t line = 0;
  static constexpr CallSite current(const char* file = __builtin_FILE(),
                                    std::uint_least32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace ebb
