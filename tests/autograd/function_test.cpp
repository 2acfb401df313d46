// Custom functions: saved tensors and values, results, and errors.
#include <ebb/autograd/function.h>

#include "autograd/semantics.h"
#include "support/catch.h"

// Custom functions: saved tensors, results, and errors.

using namespace semantics;

namespace {

struct ScaledProduct : Function<ScaledProduct> {
  static Variable forward(AutogradContext* ctx, Variable a, Variable b, double scale) {
    ctx->save_for_backward({a, b});
    ctx->saved_data["scale"] = scale;
    return a * b * scale;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const auto saved = ctx->get_saved_variables();
    const double scale = ctx->saved_data["scale"].toDouble();
    return {g[0] * saved[1] * scale, g[0] * saved[0] * scale, Variable()};
  }
};

struct Split : Function<Split> {
  static bool materialize;
  static variable_list forward(AutogradContext* ctx, Variable x) {
    ctx->set_materialize_grads(materialize);
    return {x * 2, x * 3};
  }
  static variable_list backward(AutogradContext*, variable_list g) {
    if (!materialize) REQUIRE_FALSE(g[1].defined());
    return {g[1].defined() ? g[0] * 2 + g[1] * 3 : g[0] * 2};
  }
};
bool Split::materialize = true;

struct TooFew : Function<TooFew> {
  static Variable forward(AutogradContext*, Variable a, Variable b) { return a + b; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0]}; }
};

struct WrongShape : Function<WrongShape> {
  static Variable forward(AutogradContext*, Variable a) { return a * 1; }
  static variable_list backward(AutogradContext*, variable_list) { return {ebb::ones({7}, ebb::kFloat64)}; }
};

struct GradientForNumber : Function<GradientForNumber> {
  static Variable forward(AutogradContext*, Variable a, double) { return a * 1; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0], g[0]}; }
};

struct MaxWithIndex : Function<MaxWithIndex> {
  static variable_list forward(AutogradContext* ctx, Variable a) {
    Variable rounded = a.round();
    ctx->mark_non_differentiable({rounded});
    return {a * 2, rounded};
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2}; }
};

struct Identity : Function<Identity> {
  static Variable forward(AutogradContext*, Variable a) { return a; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 10}; }
};

struct Double_ : Function<Double_> {
  static Variable forward(AutogradContext* ctx, Variable a) {
    a.mul_(2);
    ctx->mark_dirty({a});
    return a;
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2}; }
};

}  // namespace

TEST_CASE("a custom function can be differentiated twice") {
  Variable a = leaf({2}), b = leaf({3});
  Variable y = ScaledProduct::apply(a, b, 0.5);
  require_values(y, {3});
  REQUIRE(y.grad_fn()->name() == "ScaledProductBackward");
  Variable g = grad({y}, {a}, {}, true, true)[0];
  require_values(g, {1.5});
  require_values(grad({g}, {b})[0], {0.5});
}

TEST_CASE("a custom function that saves its result can be differentiated twice and is freed") {
  Variable x = leaf({0.5});
  const auto nodes = ebb::live_node_count();
  {
    Variable y = KeepsResult::apply(x);
    Variable g = grad({y}, {x}, {}, true, true)[0];
    require_values(grad({g}, {x})[0], {std::exp(0.5)});
  }
  REQUIRE(ebb::live_node_count() == nodes);
}

TEST_CASE(
    "set_materialize_grads selects zeros or undefined tensors for undefined gradients of a custom function") {
  for (bool materialize : {true, false}) {
    Split::materialize = materialize;
    Variable x = leaf({1});
    Split::apply(x)[0].backward();
    require_values(x.grad(), {2});
  }
}

TEST_CASE("a custom function throws if it returns too few, too many or wrongly shaped gradients") {
  Variable x = leaf({1, 2}), y = leaf({1, 2});
  EBB_REQUIRE_ERROR(TooFew::apply(x, y).sum().backward(),
                    "incorrect number of gradients (expected 2, got 1)");
  EBB_REQUIRE_ERROR(WrongShape::apply(x).sum().backward(), "invalid gradient at index 0");
  EBB_REQUIRE_ERROR(GradientForNumber::apply(x, 2.0).sum().backward(), "different than None");
}

TEST_CASE("an output of a custom function that is marked non-differentiable does not require grad") {
  Variable x = leaf({1.4});
  auto out = MaxWithIndex::apply(x);
  REQUIRE(out[0].requires_grad());
  REQUIRE_FALSE(out[1].requires_grad());
  out[0].backward();
  require_values(x.grad(), {2});
}

TEST_CASE("a custom function that returns its input returns a new tensor") {
  Variable x = leaf({1});
  Variable y = Identity::apply(x);
  REQUIRE_FALSE(y.is_same(x));
  REQUIRE(x.is_leaf());
  y.backward();
  require_values(x.grad(), {10});
}

TEST_CASE("a custom function that marks its input dirty returns the same tensor") {
  Variable x = leaf({3});
  Variable y = x * 1;
  Variable z = Double_::apply(y);
  REQUIRE(z.is_same(y));
  require_values(y, {6});
  y.backward();
  require_values(x.grad(), {2});
  Variable w = leaf({1});
  REQUIRE_THROWS_WITH(Double_::apply(w),
                      support::Contains("Double_Backward: a leaf Variable that requires grad is"));
}

TEST_CASE("gradcheck reports the position of a wrong gradient of a custom function") {
  struct Wrong : Function<Wrong> {
    static Variable forward(AutogradContext* ctx, Variable x) {
      ctx->save_for_backward({x});
      return x * x;
    }
    static variable_list backward(AutogradContext* ctx, variable_list g) {
      return {g[0] * ctx->get_saved_variables()[0]};  // the factor 2 is missing
    }
  };
  Variable x = leaf({1, 2, 3});
  REQUIRE(ebb::gradcheck([](const Variable& t) { return KeepsResult::apply(t); }, {x}));
  REQUIRE(ebb::gradgradcheck([](const Variable& t) { return KeepsResult::apply(t); }, {x}));
  const auto wrong = [](const Variable& t) { return Wrong::apply(t); };
  EBB_REQUIRE_ERROR(ebb::gradcheck(wrong, {x}), "Jacobian mismatch for output 0 with respect to input 0");
  EBB_REQUIRE_ERROR(ebb::gradcheck(wrong, {x}), "d output[2] / d input[2]: analytic 3, numeric");
  ebb::GradcheckOptions quiet;
  quiet.raise_exception = false;
  quiet.fast_mode = true;
  std::string message;
  quiet.message = &message;
  REQUIRE_FALSE(ebb::gradcheck(wrong, {x}, quiet));
  REQUIRE_THAT(message, support::Contains("fast mode"));
}

// SavedValue: values that a custom function saves besides tensors, and their types.

using ebb::Scalar;
using ebb::autograd::SavedValue;

TEST_CASE("SavedValue converts back to the type of the stored value") {
  CHECK(SavedValue(3).toInt() == 3);
  CHECK(SavedValue(2.5f).toDouble() == 2.5);
  CHECK(SavedValue(true).toBool());
  CHECK(SavedValue("mean").toStringRef() == "mean");
  CHECK(SavedValue(std::vector<std::int64_t>{1, 2}).toIntVector() == std::vector<std::int64_t>{1, 2});
  CHECK(SavedValue(std::vector<double>{0.5}).toDoubleVector() == std::vector<double>{0.5});
  CHECK_FALSE(SavedValue(ebb::Variable()).toTensor().defined());
  CHECK(SavedValue(Scalar(7)).toScalar().to_long() == 7);
  CHECK(SavedValue(false).toScalar().is_boolean());
  CHECK(SavedValue().isNone());
  CHECK_FALSE(SavedValue(0).isNone());
}

TEST_CASE("SavedValue throws if the requested type is not that of the stored value") {
  const std::string message = "was called on a value of another type, or on one that was never stored";
  using support::Contains;
  CHECK_THROWS_WITH(SavedValue(2.5).toInt(), Contains("toInt() " + message));
  CHECK_THROWS_WITH(SavedValue(true).toInt(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(2).toDouble(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(1).toBool(), Contains(message));
  CHECK_THROWS_WITH(SavedValue("1").toScalar(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(1).toStringRef(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(1).toTensor(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(std::vector<double>{1}).toIntVector(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(std::vector<std::int64_t>{1}).toDoubleVector(), Contains(message));
  CHECK_THROWS_WITH(SavedValue().toInt(), Contains(message));
}
