// Inference tensors, normal tensors and views of both, inside and outside of inference mode.
#include <ebb/core/warning.h>

#include "autograd/semantics.h"

#include <thread>

using namespace semantics;

namespace {

Variable computed(bool requires_grad) {
  return (requires_grad ? leaf({1, 2, 3, 4}) : leaf({1, 2, 3, 4}).detach()) * 1;
}

// Returns a leaf that is created in inference mode.
Variable inferred(bool requires_grad) {
  const ebb::InferenceMode inference;
  return ebb::tensor({1.0, 2.0, 3.0, 4.0}, ebb::kFloat64).set_requires_grad(requires_grad);
}

constexpr char kInplaceError[] = "Inplace update to inference tensor outside InferenceMode is not allowed";
constexpr char kViewError[] = "A view was created in inference mode and is being modified inplace";

}  // namespace

TEST_CASE("inference: inference tensors can be used and written inside inference mode") {
  const ebb::InferenceMode inference;
  for (const bool requires_grad : {false, true}) {
    const Variable c = inferred(requires_grad);
    REQUIRE(c.is_inference());
    REQUIRE(c.requires_grad() == requires_grad);
    REQUIRE((c * c).is_inference());
    REQUIRE_FALSE((c * c).requires_grad());
    c.mul_(2);
    REQUIRE(c.requires_grad() == requires_grad);
    const Variable view = c.view({2, 2});
    REQUIRE(view.is_inference());
    REQUIRE_FALSE(view.requires_grad());
    REQUIRE_FALSE(view.is_view());
  }
}

TEST_CASE("inference: inference tensors cannot be written or saved outside of inference mode") {
  for (const bool requires_grad : {false, true}) {
    const Variable c = inferred(requires_grad);
    for (const Variable& y : {c * c, c.exp(), c.clone(), c.sum()}) {
      REQUIRE_FALSE(y.is_inference());
      REQUIRE_FALSE(y.requires_grad());
    }
    EBB_REQUIRE_ERROR(c.mul_(2), kInplaceError);
    EBB_REQUIRE_ERROR(c.copy_(computed(false)), kInplaceError);
    EBB_REQUIRE_ERROR(c.zero_(), kInplaceError);
    {
      const ebb::NoGradGuard no_grad;
      EBB_REQUIRE_ERROR(c.mul_(2), kInplaceError);
    }
    require_values(c, {1, 2, 3, 4});
    for (const Variable& view :
         {c.view({2, 2}), c[0], c.chunk(2)[1], c.view_as(computed(true)), c.detach()}) {
      REQUIRE(view.is_inference());
      REQUIRE_FALSE(view.requires_grad());
      REQUIRE(view.is_leaf());
      REQUIRE_FALSE(view.is_view());
      EBB_REQUIRE_ERROR(view.mul_(2), kInplaceError);
      EBB_REQUIRE_ERROR(computed(true)[0] * view, "inference tensors cannot be saved for backward");
    }
    REQUIRE(c.data().is_inference());
  }
  const Variable c = inferred(false);
  c.set_requires_grad(false);
  EBB_REQUIRE_ERROR(c.set_requires_grad(true), "inference tensor outside InferenceMode");
}

TEST_CASE("inference: normal tensors can be written inside inference mode") {
  for (const bool requires_grad : {false, true}) {
    const Variable s = requires_grad ? leaf({1, 2, 3, 4}) : leaf({1, 2, 3, 4}).detach();
    Variable a = s * 1;
    const auto version = a._version();
    {
      const ebb::InferenceMode inference;
      a.mul_(2);
      a.add_(inferred(false));
      REQUIRE_FALSE(a.is_inference());
      REQUIRE(a.requires_grad() == requires_grad);
      REQUIRE(a._version() == version + 2);
      s.add_(0);  // as under no_grad, also into a leaf
      REQUIRE_FALSE(s.data().is_inference());
      REQUIRE_FALSE(s.detach().is_inference());
      REQUIRE((s * 2).is_inference());
    }
    require_values(a, {3, 6, 9, 12});
    a.mul_(3);
    REQUIRE(a.requires_grad() == requires_grad);
    if (requires_grad) require_values(grad({a.sum()}, {s})[0], {3, 3, 3, 3});
  }
  Variable a = computed(true);
  Variable saved = (a * a).sum();
  {
    const ebb::InferenceMode inference;
    a.mul_(1);
  }
  EBB_REQUIRE_ERROR(saved.backward(), "modified by an inplace operation");
}

TEST_CASE("inference: views of normal tensors are normal tensors inside inference mode") {
  for (const bool requires_grad : {false, true}) {
    const Variable a = computed(requires_grad);
    Variable view, part;
    {
      const ebb::InferenceMode inference;
      view = a.view({2, 2});
      part = view[1];
      for (const Variable& v : {view, part}) {
        REQUIRE_FALSE(v.is_inference());
        REQUIRE(v.is_view());
        REQUIRE(v.requires_grad() == requires_grad);
        REQUIRE(v.is_leaf());
      }
      part.mul_(10);
      REQUIRE(a._version() == part._version());
      REQUIRE(part.is_leaf());
    }
    require_values(a, {1, 2, 30, 40});
  }
}

TEST_CASE("inference: views created inside inference mode can be used outside inference mode") {
  for (const bool requires_grad : {false, true}) {
    const Variable a = computed(requires_grad);
    Variable view;
    {
      const ebb::InferenceMode inference;
      view = a.view({2, 2});
    }
    REQUIRE((view * view).requires_grad() == requires_grad);
    REQUIRE_FALSE((view * view).is_inference());
    Variable w = leaf({2});
    require_values(grad({(view * w).sum()}, {w})[0], {10});  // this view can be saved
    REQUIRE(view.view({4}).requires_grad() == requires_grad);
    for (const Variable& v : {view, view.view({4}), view[0]}) {
      if (requires_grad)
        EBB_REQUIRE_ERROR(v.mul_(1), kViewError);
      else
        v.mul_(1);
    }
    Variable again;
    {
      const ebb::NoGradGuard no_grad;
      again = view.view({4});
      again.mul_(1);
    }
    if (requires_grad) EBB_REQUIRE_ERROR(again.mul_(1), kViewError);
  }
}

TEST_CASE(
    "inference: a view created inside inference mode throws if it is used after a write to a base that "
    "requires grad") {
  for (const bool requires_grad : {false, true}) {
    const Variable a = computed(requires_grad);
    Variable view;
    {
      const ebb::InferenceMode inference;
      view = a.view({2, 2});
    }
    a.mul_(2);
    if (requires_grad)
      EBB_REQUIRE_ERROR(view * 3,
                        "A view was created in inference mode and its base or another view of its base");
    else
      require_values(view * 3, {6, 12, 18, 24});
  }
}

TEST_CASE("inference: the grad_fn of a view of a written base is updated inside inference mode") {
  Variable x = leaf({1, 2});
  Variable base = x * 1;
  Variable view = base[1];
  base.mul_(3);
  {
    const ebb::InferenceMode inference;
    REQUIRE_FALSE(view.is_leaf());
    REQUIRE(view.grad_fn()->name() == "AsStridedBackward0");
  }
  view.backward();
  require_values(x.grad(), {0, 3});
}

TEST_CASE("inference: an op throws only if it must save an inference tensor") {
  Variable s = leaf({1, 2, 3, 4});
  const Variable constant = inferred(false), c = inferred(true);
  // These ops save nothing of the inference tensor.
  require_values(grad({(s + constant).sum()}, {s})[0], {1, 1, 1, 1});
  require_values(grad({(constant - s).sum()}, {s})[0], {-1, -1, -1, -1});
  require_values(grad({ebb::stack({s, constant}).sum()}, {s})[0], {1, 1, 1, 1});
  // A leaf that was created in inference mode can get a gradient.
  (c + s).sum().backward();
  require_values(c.grad(), {1, 1, 1, 1});
  require_values(grad({(c + s.detach()).sum()}, {c})[0], {1, 1, 1, 1});
  // The product saves only the other operand.
  require_values(grad({(c * s.detach()).sum()}, {c})[0], {1, 2, 3, 4});
  // Here the inference tensor would have to be saved.
  constexpr char kSaved[] = "inference tensors cannot be saved for backward";
  EBB_REQUIRE_ERROR(constant * s, kSaved);
  EBB_REQUIRE_ERROR(c * s, kSaved);
  Variable a = s * 1;
  EBB_REQUIRE_ERROR(a.mul_(constant), kSaved);
  require_values(a, {1, 2, 3, 4});  // the error came before the write
  require_values(grad({(constant.clone() * s).sum()}, {s})[0], {1, 2, 3, 4});
  const ebb::NoGradGuard no_grad;
  REQUIRE_FALSE((constant * s).is_inference());
}

TEST_CASE(
    "inference: inside inference mode, InferenceMode(false) enables recording and EnableGradGuard does not") {
  Variable x = leaf({1, 2});
  const ebb::InferenceMode inference;
  {
    const ebb::EnableGradGuard enable;
    REQUIRE_FALSE(ebb::GradMode::is_enabled());
    REQUIRE_FALSE((x * 2).requires_grad());
    x.mul_(3);
  }
  {
    const ebb::InferenceMode normal(false);
    REQUIRE(ebb::GradMode::is_enabled());
    REQUIRE((x * 2).requires_grad());
    REQUIRE_FALSE((x * 2).is_inference());
    {
      const ebb::InferenceMode again;
      REQUIRE_FALSE((x * 2).requires_grad());
    }
    REQUIRE((x * 2).requires_grad());
  }
  REQUIRE_FALSE(ebb::GradMode::is_enabled());
  require_values(x, {3, 6});
}

TEST_CASE("inference: the end of a guard restores the previous modes") {
  for (const bool grad : {false, true}) {
    const ebb::AutoGradMode mode(grad);
    {
      const ebb::InferenceMode inference;
      const ebb::InferenceMode normal(false);
      REQUIRE(ebb::GradMode::is_enabled());
    }
    REQUIRE(ebb::GradMode::is_enabled() == grad);
    REQUIRE_FALSE(ebb::InferenceMode::is_enabled());
  }
}

TEST_CASE("inference: outside inference mode, an op that loses a gradient warns once per thread") {
  std::thread([] {
    struct Counter : ebb::WarningHandler {
      int seen = 0;
      void process(const ebb::Warning& warning) override {
        seen += warning.msg().find("created in inference mode, and one of them requires grad") !=
                std::string::npos;
      }
    } counter;
    const ebb::WarningHandlerGuard guard(&counter);
    for (int i = 0; i < 2; ++i) CHECK_FALSE((inferred(true) * 2).requires_grad());
    CHECK_FALSE((inferred(false) * 2).requires_grad());
    CHECK(counter.seen == 1);
  }).join();
}
