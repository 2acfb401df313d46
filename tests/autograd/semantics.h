// Helpers of the tests of autograd.
#pragma once

#include <ebb/ebb.h>

#include "support/catch.h"

#include <string>
#include <vector>

namespace semantics {

using ebb::Tensor;
using ebb::Variable;
using ebb::variable_list;
using ebb::autograd::AutogradContext;
using ebb::autograd::Function;
using ebb::autograd::grad;

inline Variable leaf(std::vector<double> values) {
  return ebb::tensor(values, ebb::kFloat64).requires_grad_();
}

inline std::vector<double> values(const Variable& x) {
  const Variable flat = x.detach().to(ebb::kFloat64).contiguous().view({-1});
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

inline void require_values(const Variable& x, std::vector<double> expected) {
  REQUIRE(x.defined());
  const std::vector<double> got = values(x);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i);
    if (expected[i] != expected[i])
      CHECK(got[i] != got[i]);
    else
      CHECK(got[i] == Approx(expected[i]).epsilon(1e-12).margin(1e-12));
  }
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const ebb::Error& e) {
    return e.what();
  }
  return "(no error)";
}

}  // namespace semantics

#define EBB_REQUIRE_ERROR(expression, part) \
  REQUIRE_THAT(semantics::message_of([&] { (void)(expression); }), support::Contains(part))

// Custom functions that several tests use.

namespace semantics {

/// Computes e^x and saves the result.
struct KeepsResult : Function<KeepsResult> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    Variable y = x.exp();
    ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0] * ctx->get_saved_variables()[0]};
  }
};

}  // namespace semantics
