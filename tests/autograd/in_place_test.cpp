// In-place ops: versions, views, histories, and set_data.
#include <ebb/autograd/record.h>
#include <ebb/ebb.h>

#include "autograd/semantics.h"
#include "support/catch.h"

using namespace semantics;

TEST_CASE("an in-place op on a leaf that requires grad throws unless no_grad is on") {
  Variable x = leaf({1});
  EBB_REQUIRE_ERROR(x.add_(1), "a leaf Variable that requires grad");
  {
    ebb::NoGradGuard no_grad;
    x.add_(1);
  }
  require_values(x, {2});
}

TEST_CASE("an in-place op on a view of a leaf that requires grad throws") {
  Variable x = leaf({1, 2});
  EBB_REQUIRE_ERROR(x[0].add_(1), "a view of a leaf Variable that requires grad");
}

TEST_CASE("backward throws for a saved tensor that was modified and names the op and both versions") {
  Variable x = leaf({1, 2});
  Variable y = x * 2;
  Variable z = y * y;
  y.add_(1);
  EBB_REQUIRE_ERROR(z.sum().backward(), "modified by an inplace operation");
  EBB_REQUIRE_ERROR(z.sum().backward(), "MulBackward0");
  EBB_REQUIRE_ERROR(z.sum().backward(), "is at version 1; expected version 0");
}

TEST_CASE("backward throws for a saved tensor that was modified under no_grad") {
  Variable x = leaf({1, 2});
  Variable y = x * 2;
  Variable z = (y * y).sum();
  {
    ebb::NoGradGuard no_grad;
    y.mul_(2);
  }
  EBB_REQUIRE_ERROR(z.backward(), "modified by an inplace operation");
}

TEST_CASE("backward throws if a saved tensor was modified through detach(), but not if through data()") {
  Variable x = leaf({1, 2});
  {
    Variable y = x * 2;
    Variable z = (y * y).sum();
    y.detach().zero_();
    EBB_REQUIRE_ERROR(z.backward(), "modified by an inplace operation");
  }
  Variable y = x * 2;
  Variable z = (y * y).sum();
  y.data().fill_(5);
  z.backward();
  require_values(x.grad(), {20, 20});
}

TEST_CASE("backward throws and leaves gradients unchanged if set_data() changed the shape of an output") {
  Variable x = leaf({1, 2, 3}), y = x * x;
  y.set_data(ebb::ones({}, ebb::kDouble));
  EBB_REQUIRE_ERROR(y.backward(), "MulBackward0 computed an output of shape [3]");
  EBB_REQUIRE_ERROR(ebb::autograd::grad({y}, {x}, {ebb::ones({}, ebb::kDouble)}), "is now of shape []");
  CHECK_FALSE(x.grad().defined());
  y.set_data(ebb::zeros({3}, ebb::kDouble));
  y.backward(ebb::ones({3}, ebb::kDouble));
  require_values(x.grad(), {2, 4, 6});
  x.set_data(ebb::ones({2}, x.options()));  // the gradient of a leaf has the shape of its data
  x.mutable_grad() = Variable();
  x.backward(ebb::ones({2}, ebb::kDouble));
  require_values(x.grad(), {1, 1});
}

TEST_CASE("an in-place op on a view changes the history of its base") {
  Variable x = leaf({1, 2, 3});
  Variable base = x * 2;
  base[1].mul_(10);
  require_values(base, {2, 40, 6});
  REQUIRE(base.grad_fn()->name() == "CopySlices");
  base.sum().backward();
  require_values(x.grad(), {2, 20, 2});
}

TEST_CASE("an in-place op on a view of a view changes the base and the first view and their gradients") {
  Variable x = leaf({1, 2, 3, 4});
  Variable base = x * 1;
  Variable view = base.view({2, 2});
  Variable row = view[1];
  row.mul_(row.detach().clone());
  require_values(base, {1, 2, 9, 16});
  require_values(view, {1, 2, 9, 16});
  (base * base).sum().backward();
  require_values(x.grad(), {2, 4, 54, 128});
}

TEST_CASE("an in-place op on one of several views of unbind throws") {
  Variable x = leaf({1, 2});
  Variable y = x * 2;
  auto parts = y.unbind(0);
  EBB_REQUIRE_ERROR(parts[0].add_(1), "one of several views");
}

TEST_CASE("an in-place op on a base changes the values and gradients of its views") {
  Variable x = leaf({1, 2});
  Variable base = x * 1;
  Variable view = base[0];
  base.mul_(3);
  require_values(view, {3});
  (view * view).backward();
  require_values(x.grad(), {18, 0});
  REQUIRE(view.grad_fn()->name() == "AsStridedBackward0");
}

TEST_CASE("assigning to an element of a tensor that does not require grad makes it require grad") {
  Variable y = leaf({5});
  Variable x = ebb::zeros({2}, ebb::kFloat64);
  x[0] = y[0] * 2;
  REQUIRE(x.requires_grad());
  require_values(x, {10, 0});
  (x * x).sum().backward();
  require_values(y.grad(), {40});
}

TEST_CASE("copy_ broadcasts its source and sums the gradient back to the shape of the source") {
  Variable y = leaf({5});
  Variable x = ebb::zeros({2, 3}, ebb::kFloat64);
  x.copy_(y);
  require_values(x, {5, 5, 5, 5, 5, 5});
  x.sum().backward();
  require_values(y.grad(), {6});
}

TEST_CASE("an in-place op throws if it needs to broadcast self or if self is expanded") {
  Variable x = ebb::zeros({1}, ebb::kFloat64);
  REQUIRE_THROWS_WITH(x.add_(ebb::ones({3}, ebb::kFloat64)),
                      support::Contains("add_: output with shape [1] doesn't match the broadcast"));
  Variable expanded = ebb::zeros({1}, ebb::kFloat64).expand({3});
  EBB_REQUIRE_ERROR(expanded.add_(1), "single memory location");
}

TEST_CASE("gradients of a view and of its base are summed") {
  Variable x = leaf({1, 2});
  Variable base = x * 1;
  Variable view = base.view({2, 1});
  (base.sum() * 2 + view.sum() * 3).backward();
  require_values(x.grad(), {5, 5});
}

TEST_CASE("backward of exp throws if the result was modified, and backward of exp_ works") {
  Variable x = leaf({0.5});
  Variable y = ebb::exp(x);
  y.add_(1);
  EBB_REQUIRE_ERROR(y.sum().backward(), "modified by an inplace operation");
  // The in-place form saves its result.
  y = x * 1;
  y.exp_();
  y.sum().backward();
  require_values(x.grad(), {std::exp(0.5)});
}

TEST_CASE("backward of ops that save input and result works if only one of the two was modified") {
  using Op = Variable (*)(const Variable&);
  using InPlace = Variable& (*)(const Variable&);
  const std::pair<Op, InPlace> ops[] = {{ebb::tanh, ebb::tanh_},
                                        {ebb::sigmoid, ebb::sigmoid_},
                                        {ebb::expm1, ebb::expm1_},
                                        {ebb::exp2, ebb::exp2_},
                                        {ebb::sqrt, ebb::sqrt_},
                                        {ebb::rsqrt, ebb::rsqrt_},
                                        {ebb::reciprocal, ebb::reciprocal_},
                                        {ebb::tan, ebb::tan_}};
  for (const auto& [op, in_place] : ops) {
    const auto derivatives = [&, &f = op](bool changes_input, bool changes_result) {
      const Variable x = leaf({0.5, 2}), input = x * 1, y = f(input), sum = y.sum();
      if (changes_input) input.add_(1);
      if (changes_result) y.add_(1);
      const Variable slope = ebb::autograd::grad({sum}, {x}, {}, true, true)[0];
      return ebb::stack({slope, ebb::autograd::grad({slope.sum()}, {x}, {}, true)[0]});
    };
    const Variable expected = derivatives(false, false);
    CHECK(ebb::allclose(derivatives(true, false), expected, 1e-12));
    CHECK(ebb::allclose(derivatives(false, true), expected, 1e-12));
    EBB_REQUIRE_ERROR(derivatives(true, true), "modified by an inplace operation");
    const Variable x = leaf({0.5, 2}), y = in_place(x * 1);
    CHECK(ebb::allclose(ebb::autograd::grad({y.sum()}, {x})[0], expected[0], 1e-12));
  }
}

TEST_CASE("an in-place op throws on a view of a leaf that is itself a view") {
  Variable x = ebb::arange(6, ebb::kFloat64).view({2, 3}).requires_grad_();
  EBB_REQUIRE_ERROR(x.view({3, 2}).mul_(2), "a view of a leaf Variable that requires grad");
  require_values(x, {0, 1, 2, 3, 4, 5});
}

// Writes, detach_(), data() and changes of a base: their effect on the history and the retained gradient of a
// tensor.

namespace {

// Returns 2 x, and x times 3 in place.
struct DoubleAndTriple : Function<DoubleAndTriple> {
  static variable_list forward(AutogradContext* ctx, Variable x) {
    const Variable twice = x * 2;
    x.mul_(3);
    ctx->mark_dirty({x});
    return {twice, x};
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2 + g[1] * 3}; }
};

struct ReverseBackward : ebb::autograd::Node {
  std::string name() const override { return "ReverseBackward"; }
  ebb::autograd::GradList apply(ebb::autograd::GradList&& g) override { return {-g[0]}; }
};

}  // namespace

TEST_CASE("retain_grad gives the gradient of the value after the last in-place write") {
  const Variable x = leaf({1, 2});
  Variable y = x * 1;
  y.retain_grad();
  y.mul_(2);
  REQUIRE(y.retains_grad());
  y.mul_(3);
  REQUIRE(y.retains_grad());
  (y * 5).sum().backward();
  require_values(y.grad(), {5, 5});
  require_values(x.grad(), {30, 30});
}

TEST_CASE("retain_grad works for a tensor that a function with several outputs writes in place") {
  const Variable x = leaf({1, 2});
  Variable y = x * 1;
  y.retain_grad();
  const variable_list outputs = DoubleAndTriple::apply(y);
  REQUIRE(y.output_nr() == 1);
  (outputs[0] * 10 + outputs[1] * 100).sum().backward();
  require_values(y.grad(), {100, 100});
  require_values(x.grad(), {320, 320});
}

TEST_CASE("a second retain_grad has no effect") {
  const Variable x = leaf({1, 2});
  const Variable y = x * 2;
  y.retain_grad();
  y.retain_grad();
  (y * 3).sum().backward();
  require_values(y.grad(), {3, 3});
}

TEST_CASE("the retained gradient of a second output of a node is the gradient of that output") {
  const Variable x = leaf({1, 2, 3, 4});
  const auto parts = (x * 1).chunk(2);
  parts[1].retain_grad();
  (parts[0] * 2 + parts[1] * 3).sum().backward();
  require_values(parts[1].grad(), {3, 3});
  REQUIRE_FALSE(parts[0].grad().defined());
}

TEST_CASE("rebase_history of a view changes the history of the view and of its base") {
  const Variable x = leaf({1, 2});
  const Variable base = x * 1, view = base[0];
  ebb::autograd::check_inplace(view, "reverse_");
  ebb::autograd::rebase_history(view, ebb::autograd::make_node<ReverseBackward>(view));
  require_values(grad({base.sum()}, {x}, {}, true)[0], {-1, 1});
  require_values(grad({view * 5}, {x})[0], {-5, 0});
}

TEST_CASE("a view keeps its history after its base is detached and written") {
  const Variable x = leaf({1, 2});
  Variable base = x * 3;
  const Variable view = base[1];
  base.detach_();
  REQUIRE_FALSE(base.requires_grad());
  base.add_(10);
  REQUIRE(view.requires_grad());
  require_values(view, {16});
  require_values(grad({view * 2}, {x})[0], {0, 6});
}

TEST_CASE("detach_ makes the tensor a leaf that does not require grad") {
  Variable x = leaf({1, 2});
  x.detach_();
  REQUIRE_FALSE(x.requires_grad());
  REQUIRE_FALSE((x * 2).requires_grad());

  Variable y = DoubleAndTriple::apply(leaf({1}) * 1)[1];
  REQUIRE(y.output_nr() == 1);
  y.detach_();
  REQUIRE(y.is_leaf());
  REQUIRE(y.output_nr() == 0);
  y.requires_grad_();
  (y * 2).backward();
  require_values(y.grad(), {2});
}

TEST_CASE("data() of a view gives access to the whole storage") {
  const Variable x = leaf({1, 2, 3, 4});
  const Variable first = x.detach().narrow(0, 0, 1).data();
  REQUIRE(first.array().storage()->bytes() == x.array().storage()->bytes());
  require_values(first.as_strided({4}, {1}, 0), {1, 2, 3, 4});
}

TEST_CASE("is_contiguous(ChannelsLast) ignores the strides of dimensions of one element") {
  const Variable x = ebb::zeros({2, 1, 3, 4});
  REQUIRE(x.stride(1) == 12);
  REQUIRE(x.is_contiguous(ebb::MemoryFormat::ChannelsLast));
  REQUIRE(x.as_strided({2, 1, 3, 4}, {12, 7, 4, 1}).is_contiguous(ebb::MemoryFormat::ChannelsLast));
  REQUIRE_FALSE(ebb::zeros({2, 2, 3, 4}).is_contiguous(ebb::MemoryFormat::ChannelsLast));
}

// Tensors that get the data, the memory or the shape of other tensors.

using namespace ebb;

TEST_CASE("after set_data(), writes to the source tensor do not change the version of the target") {
  const Variable x = tensor({1.0, 2.0}, kDouble), y = tensor({3.0, 4.0}, kDouble);
  x.set_data(y);
  CHECK(x.is_alias_of(y));
  x.requires_grad_();
  const Variable z = x * x;
  y.add_(1);  // in PyTorch, x has its own version counter
  z.sum().backward();
  CHECK(x.grad()[0].item<double>() == 8);
  // Writes to x itself are detected.
  const Variable w = (x * x).sum();
  x.detach().add_(1);
  CHECK_THROWS_WITH(w.backward(), support::Contains("modified by an inplace operation"));
  // Repeated set_data(data()) does not build a chain of storages.
  for (int i = 0; i < 1000; ++i) x.set_data(x.data());
  CHECK(x.is_alias_of(y));
  CHECK(x.data().is_alias_of(x.data()));
}

TEST_CASE("backward uses the data that set_data() gave a leaf, if they have its dtype and shape") {
  const Variable x = tensor({1.0, 2.0}, kDouble).requires_grad_();
  {
    const NoGradGuard guard;
    x.mul_(2);  // the version counter of x must continue with the new data
  }
  const Variable z = (x * x).sum();
  x.set_data(x.data().to(kFloat));
  x.set_data(x.data().to(kDouble).add(1));
  const Variable shared = tensor({7.0, 8.0}, kDouble);
  const std::int64_t version = shared._version();
  z.backward({}, true);
  require_values(x.grad(), {6, 10});
  x.set_data(Variable(shared));
  CHECK(shared._version() == version);
  z.backward({}, true);
  require_values(x.grad(), {20, 26});
  x.detach().add_(1);
  CHECK_THROWS_WITH(z.backward(), support::Contains("modified by an inplace operation"));
}

TEST_CASE("nodes that saved the result compute with it after set_data() gave the input other elements") {
  const std::pair<const char*, Variable (*)(const Variable&)> ops[] = {
      {"tanh", [](const Variable& x) { return x.tanh(); }},
      {"sigmoid", [](const Variable& x) { return x.sigmoid(); }},
      {"exp", [](const Variable& x) { return x.exp(); }},
      {"sqrt", [](const Variable& x) { return x.sqrt(); }},
      {"rsqrt", [](const Variable& x) { return x.rsqrt(); }},
      {"reciprocal", [](const Variable& x) { return x.reciprocal(); }}};
  for (const auto& [name, op] : ops) {
    INFO(name);
    const Variable x = tensor({1.0, 2.0}, kDouble).requires_grad_();
    const Variable expected = autograd::grad({op(x).sum()}, {x})[0], y = op(x).sum();
    x.set_data(tensor({0.25, 9.0}, kDouble));
    y.backward();
    CHECK(x.grad().allclose(expected, 1e-14));
  }
  // Other elements of the same bytes.
  const Variable x = arange(1, 5, kDouble).view({2, 2}).clone().requires_grad_(), y = x.sqrt();
  x.set_data(x.data().t());
  y.sum().backward();
  CHECK(x.grad().allclose(arange(1, 5, kDouble).view({2, 2}).rsqrt() / 2, 1e-14));
}

TEST_CASE("a view that set_data() returned to the bytes of its base sees writes to the base") {
  const Variable x = ones({4}, TensorOptions(kDouble).requires_grad(true)), base = x * 1;
  const Variable view = base.narrow(0, 0, 2);
  view.set_data(ones({2}, kDouble));
  view.set_data(base.detach().narrow(0, 0, 2));
  base.mul_(3);
  view.sum().backward();
  require_values(x.grad(), {3, 3, 0, 0});
}

TEST_CASE("after set_data() on the same bytes, backward detects writes through earlier views") {
  const Variable x = tensor({1.0, 2.0}, kDouble).requires_grad_(), earlier = x.detach();
  x.set_data(x.data());
  const Variable z = (x * x).sum();
  earlier.add_(1);
  CHECK_THROWS_WITH(z.backward(), support::Contains("modified by an inplace operation"));
}

TEST_CASE("backward throws for a saved tensor that was given data which its node cannot use") {
  const std::pair<const char*, void (*)(const Variable&)> changes[] = {
      {"set_data of another dtype", [](const Variable& x) { x.set_data(ones({2, 3}, kBool)); }},
      {"set_data of another shape", [](const Variable& x) { x.set_data(ones({3, 2}, kDouble)); }},
      {"set_ to other memory", [](const Variable& x) { x.set_(ones({2, 3}, kDouble)); }},
      {"set_ without elements", [](const Variable& x) { x.set_(); }},
      {"resize_", [](const Variable& x) { x.resize_({2, 2}); }},
      {"resize_ to more elements", [](const Variable& x) { x.resize_({4, 3}); }}};
  for (const auto& [name, change] : changes) {
    INFO(name);
    const Variable w = ones({2, 3}, TensorOptions(kDouble).requires_grad(true)), x = ones({2, 3}, kDouble);
    const Variable z = (w * x).sum();
    change(x);
    CHECK_THROWS_WITH(z.backward(), support::Contains("given other data"));
    CHECK_FALSE(w.grad().defined());
  }
  // The sizes and the version are the old ones again, but not the elements.
  const Variable v = ones({4}, TensorOptions(kDouble).requires_grad(true)), x = ones({4}, kDouble);
  const Variable product = (v * x).sum();
  x.resize_({2});
  x.resize_({8});
  x.resize_({4});
  CHECK_THROWS_WITH(product.backward(), support::Contains("given other data"));
  // A node would silently use new elements of a tensor that is no leaf.
  const Variable w = ones({2}, TensorOptions(kDouble).requires_grad(true)), y = w * 3, z = (y * y).sum();
  y.set_data(zeros({2}, kDouble));
  CHECK_THROWS_WITH(z.backward(), support::Contains("given other data"));
}

TEST_CASE("in-place ops detect an overlap with an operand that comes from data() of the target") {
  const Variable x = arange(6, kDouble);
  x.narrow(0, 1, 5).add_(x.data().narrow(0, 0, 5));
  CHECK(x.equal(tensor({0.0, 1.0, 3.0, 5.0, 7.0, 9.0}, kDouble)));
  x.copy_(x.data());
  CHECK(x[5].item<double>() == 9);
}

TEST_CASE("a leaf whose shape changes in place gets gradients of the new shape") {
  const Variable x = ones({2, 3}, TensorOptions(kDouble).requires_grad(true));
  const Variable before = (x * 2).sum();
  {
    const NoGradGuard guard;
    x.t_();
  }
  CHECK_THROWS_WITH(before.backward(), support::Contains("that now has shape [3, 2]"));
  (x * arange(1, 7, kDouble).view({3, 2})).sum().backward();
  CHECK(x.grad().sizes() == IntArrayRef({3, 2}));
  CHECK(x.grad()[2][1].item<double>() == 6);
}
