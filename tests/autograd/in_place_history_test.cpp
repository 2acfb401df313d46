// What writes, detach_(), data() and a base's changes do to a tensor's history and kept gradient.
#include <ebb/autograd/record.h>

#include "autograd/semantics.h"

using namespace semantics;

namespace {

// Returns twice x, and x itself times three, written in place.
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

TEST_CASE("a kept gradient is that of the last of several writes") {
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

TEST_CASE("a kept gradient stays with the written output of a function of several") {
  const Variable x = leaf({1, 2});
  Variable y = x * 1;
  y.retain_grad();
  const variable_list outputs = DoubleAndTriple::apply(y);
  REQUIRE(y.output_nr() == 1);
  (outputs[0] * 10 + outputs[1] * 100).sum().backward();
  require_values(y.grad(), {100, 100});
  require_values(x.grad(), {320, 320});
}

TEST_CASE("asking twice for a gradient to be kept keeps it once") {
  const Variable x = leaf({1, 2});
  const Variable y = x * 2;
  y.retain_grad();
  y.retain_grad();
  (y * 3).sum().backward();
  require_values(y.grad(), {3, 3});
}

TEST_CASE("the kept gradient of a node's second output is that output's") {
  const Variable x = leaf({1, 2, 3, 4});
  const auto parts = (x * 1).chunk(2);
  parts[1].retain_grad();
  (parts[0] * 2 + parts[1] * 3).sum().backward();
  require_values(parts[1].grad(), {3, 3});
  REQUIRE_FALSE(parts[0].grad().defined());
}

TEST_CASE("an in-place op that writes nothing changes a view's history and its base's") {
  const Variable x = leaf({1, 2});
  const Variable base = x * 1, view = base[0];
  ebb::autograd::check_inplace(view, "reverse_");
  ebb::autograd::rebase_history(view, ebb::autograd::make_node<ReverseBackward>(view));
  require_values(grad({base.sum()}, {x}, {}, true)[0], {-1, 1});
  require_values(grad({view * 5}, {x})[0], {-5, 0});
}

TEST_CASE("a view keeps its history when its base is detached and then written to") {
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

TEST_CASE("detach_ makes a leaf that requires no gradient") {
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

TEST_CASE("data() reaches as far as the tensor's storage does") {
  const Variable x = leaf({1, 2, 3, 4});
  const Variable first = x.detach().narrow(0, 0, 1).data();
  REQUIRE(first.array().storage()->bytes() == x.array().storage()->bytes());
  require_values(first.as_strided({4}, {1}, 0), {1, 2, 3, 4});
}

TEST_CASE("strides of dimensions of one element do not matter to channels-last layouts") {
  const Variable x = ebb::zeros({2, 1, 3, 4});
  REQUIRE(x.stride(1) == 12);
  REQUIRE(x.is_contiguous(ebb::MemoryFormat::ChannelsLast));
  REQUIRE(x.as_strided({2, 1, 3, 4}, {12, 7, 4, 1}).is_contiguous(ebb::MemoryFormat::ChannelsLast));
  REQUIRE_FALSE(ebb::zeros({2, 2, 3, 4}).is_contiguous(ebb::MemoryFormat::ChannelsLast));
}
