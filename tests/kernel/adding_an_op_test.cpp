// The worked example of docs/adding-an-op.md: one op as a user adds it, and one as a family of the library
// adds it.
#include <ebb/ebb.h>

#include "ops/elementwise/cpu_slots.h"
#include "ops/elementwise/record_formula.h"
#include "support/catch.h"

#include <cmath>

struct Swish : ebb::autograd::Function<Swish> {
  static ebb::Tensor forward(ebb::autograd::AutogradContext* ctx, ebb::Tensor x, double beta) {
    ctx->save_for_backward({x});
    ctx->saved_data["beta"] = beta;
    return x * ebb::sigmoid(x * beta);
  }
  static ebb::variable_list backward(ebb::autograd::AutogradContext* ctx, ebb::variable_list grads) {
    const ebb::Tensor x = ctx->get_saved_variables()[0];
    const double beta = ctx->saved_data["beta"].toDouble();
    const ebb::Tensor s = ebb::sigmoid(x * beta);
    return {grads[0] * (s + x * beta * s * (1 - s)), ebb::Tensor()};  // one for each argument; none for beta
  }
};

TEST_CASE("a user's op can be an autograd::Function") {
  const ebb::Tensor x = ebb::randn({4, 3}, ebb::kFloat64).requires_grad_();
  const auto f = [](const ebb::Tensor& t) { return Swish::apply(t, 1.5); };
  CHECK(ebb::gradcheck(f, {x}));
  CHECK(ebb::gradgradcheck(f, {x}));
}

namespace ebb {
namespace ops {

/// e^(-x^2).
struct Bell : Unary {
  static constexpr char kName[] = "bell";
  template <class X>
  EBB_HD X value(const X& x) const {
    return exp(-(x * x));
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return x * -2 * exp(-(x * x));
  }
};

}  // namespace ops

namespace cpu {
[[gnu::used]] static constinit const auto bell_slots =
    slots_of(ops::List<ops::Bell, ops::Gradient<ops::Bell>>{});
}

using namespace ops;

Variable bell(const Variable& self) { return unary<Bell>(self); }
Variable& bell_(const Variable& self) { return unary_inplace<Bell>(self); }

}  // namespace ebb

TEST_CASE("an op of the library needs only its formula") {
  using ebb::Tensor;
  ebb::manual_seed(1);
  SECTION("values in every floating dtype, for a length that is not a multiple of a SIMD register") {
    for (const ebb::DType dtype : {ebb::kDouble, ebb::kFloat, ebb::kHalf, ebb::kBFloat16}) {
      const Tensor x = ebb::randn({1003}, ebb::kDouble).to(dtype), y = ebb::bell(x).to(ebb::kDouble);
      const double bound = dtype == ebb::kDouble ? 1e-15 : dtype == ebb::kFloat ? 1e-6 : 1e-2;
      for (std::int64_t i = 0; i < x.numel(); ++i) {
        const double at = x[i].item<double>();
        REQUIRE(y[i].item<double>() == Approx(std::exp(-at * at)).margin(bound).epsilon(bound));
      }
      CHECK(ebb::equal(ebb::bell(x), ebb::bell_(x.clone())));
    }
  }
  SECTION("derivatives") {
    const Tensor x = ebb::randn({4, 3}, ebb::kDouble).requires_grad_();
    CHECK(ebb::gradcheck(&ebb::bell, {x}));
    CHECK(ebb::gradgradcheck(&ebb::bell, {x}));
    CHECK(ebb::bell(x).grad_fn()->name() == "BellBackward0");
  }
  SECTION("the gradient kernel equals the gradient of recorded ops") {
    const Tensor x = ebb::randn({37}, ebb::kDouble).requires_grad_(), y = ebb::bell(x).sum();
    const Tensor plain = ebb::autograd::grad({y}, {x}, {}, true)[0];
    const Tensor recorded = ebb::autograd::grad({y}, {x}, {}, true, true)[0];
    CHECK(ebb::allclose(plain, recorded, 1e-14, 1e-14));
    CHECK(recorded.requires_grad());
  }
}
