// Replacements for C++17 features with libtorch's old names.
#pragma once

#include <c10/util/StringUtil.h>

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace c10 {

using std::in_place;
using std::in_place_t;
using std::make_unique;

namespace guts {

using std::apply;
using std::conjunction;
using std::disjunction;
using std::invoke;
using std::invoke_result_t;
using std::make_unique;
using std::negation;
using std::void_t;

/// Formats a value as a stream does. A pointer is formatted as its address.
template <class T>
std::string to_string(const T& value) {
  return c10::str(value);
}

}  // namespace guts
}  // namespace c10
