// Compares methods with the functions of the same name.
#pragma once

#include <optional>
#include <tuple>

#include "check.h"

namespace op_tests {

inline void same(const char* name, const Variable& a, const Variable& b) {
  INFO(name);
  REQUIRE(a.sizes() == b.sizes());
  REQUIRE(a.dtype() == b.dtype());
  CHECK(ebb::allclose(a.to(ebb::kDouble), b.to(ebb::kDouble), 0, 0, /*equal_nan=*/true));
  CHECK(node_name(a) == node_name(b));
}
inline void same(const char* name, const std::vector<Variable>& a, const std::vector<Variable>& b) {
  INFO(name);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) same(name, a[i], b[i]);
}
template <class... T>
void same(const char* name, const std::tuple<T...>& a, const std::tuple<T...>& b) {
  const auto list = [](const auto&... each) { return std::vector<Variable>{each...}; };
  same(name, std::apply(list, a), std::apply(list, b));
}

/// `changed` is what the call in place returned, `self` the tensor that it was called on.
inline void in_place(const char* name, const Variable& self, const Variable& changed,
                     const Variable& expected) {
  INFO(name);
  CHECK(changed.is_same(self));
  same(name, self.detach(), expected.detach().to(self.dtype()));
}

}  // namespace op_tests

/// x.name(...) is ebb::name(x, ...).
#define METHOD(x, name, ...) \
  op_tests::same(#name, (x).name(__VA_ARGS__), ebb::name((x)__VA_OPT__(, ) __VA_ARGS__))

/// Both forms of name_ leave in a copy of x what ebb::name(x, ...) gives.
#define IN_PLACE(x, name, ...)                                                                    \
  do {                                                                                            \
    const Variable expected = ebb::name((x)__VA_OPT__(, ) __VA_ARGS__);                           \
    Variable self = (x).detach().clone();                                                         \
    op_tests::in_place("method " #name "_", self, self.name##_(__VA_ARGS__), expected);           \
    self = (x).detach().clone();                                                                  \
    op_tests::in_place(#name "_", self, ebb::name##_(self __VA_OPT__(, ) __VA_ARGS__), expected); \
  } while (false)

#define BOTH(x, name, ...)                    \
  METHOD(x, name __VA_OPT__(, ) __VA_ARGS__); \
  IN_PLACE(x, name __VA_OPT__(, ) __VA_ARGS__)
