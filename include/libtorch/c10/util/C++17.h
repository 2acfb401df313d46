// What libtorch brought along before C++17, under its old names.
#pragma once

#include <torch/csrc/namespaces.h>

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

}  // namespace guts
}  // namespace c10
