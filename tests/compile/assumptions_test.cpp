// Assumptions of a tape about geometry, flags, gradients, hooks and handles of tensors: a change is noticed
// or refused.
#include "twins.h"

#include <sstream>
#include <stdexcept>

using namespace twins;
using support::Contains;

namespace {

/// Requires that no call is replayed, and that the report and one or two warnings give the reason.
template <class F>
void require_eager(F&& body, const std::string& reason) {
  Warnings warnings;
  auto f = compile(body);
  for (int i = 0; i < 12; ++i) f();
  INFO(f.report().reason);
  CHECK(f.report().replays == 0);
  CHECK(f.report().recordings <= 6);
  CHECK_THAT(f.report().reason, Contains(reason));
  CHECK((warnings.texts.size() == 1 || warnings.texts.size() == 2));
}

}  // namespace

TEST_CASE("a call detects that the sizes or strides of a captured tensor were changed in place") {
  const std::pair<const char*, void (*)(Tensor&)> changes[] = {
      {"t_", [](Tensor& x) { x.t_(); }},
      {"transpose_", [](Tensor& x) { x.transpose_(0, 1); }},
      {"swapaxes_", [](Tensor& x) { x.swapaxes_(0, 1); }},
      {"unsqueeze_", [](Tensor& x) { x.unsqueeze_(1); }},
      {"as_strided_", [](Tensor& x) { x.as_strided_({3, 3}, {0, 1}, 3); }},
      {"resize_", [](Tensor& x) { x.resize_({1, 3}); }},
      {"set_", [](Tensor& x) { x.set_(ones({3, 3})); }},
      {"set_data", [](Tensor& x) { x.set_data(ones({3, 3})); }}};
  for (const auto& [name, change] : changes) {
    INFO(name);
    Tensor w = randn({3, 3});
    const Tensor memory = w.detach();  // this tensor keeps the memory alive
    auto f = compile([&](const Tensor& x) { return x + w * 2; });
    const Tensor x = randn({3, 3});
    settle(f, x);
    change(w);
    CHECK(same_bits(f(x), x + w * 2));
    settle(f, x);
    CHECK(same_bits(replay(f, x), x + w * 2));
  }
}

TEST_CASE("a call detects a new shape of a captured tensor from which the function reads only the shape") {
  Tensor w = randn({2, 3});
  auto f = compile([&](const Tensor& x) { return x.reshape({w.size(1), -1}) + zeros_like(w).t(); });
  const Tensor x = randn({6});
  settle(f, x);
  w.t_();
  CHECK(f(x).sizes() == IntArrayRef({2, 3}));
  settle(f, x);
  w.t_();
  CHECK(same_bits(replay(f, x), x.reshape({3, 2})));
}

TEST_CASE("a call without kernel calls detects a new shape of a captured tensor") {
  Tensor w = randn({4, 2});
  auto f = compile([&] {
    if (w.split(2).size() != 2) throw std::out_of_range("not two parts");
  });
  for (int i = 0; i < 4; ++i) f();
  CHECK(f.report().replays == 2);
  w.resize_({2, 2});
  CHECK_THROWS_AS(f(), std::out_of_range);
}

TEST_CASE("a call detects a new captured tensor of which the function reads no element") {
  const std::pair<const char*, std::function<Tensor(const Tensor&)>> functions[] = {
      {"size", [](const Tensor& w) { return ones({w.size(0)}); }},
      {"numel", [](const Tensor& w) { return ones({w.numel()}); }},
      {"stride", [](const Tensor& w) { return ones({w.stride(0)}); }},
      {"options", [](const Tensor& w) { return ones({2}, w.options()); }},
      {"requires_grad", [](const Tensor& w) { return full({}, w.requires_grad()); }},
      {"is_contiguous", [](const Tensor& w) { return full({}, w.is_contiguous()); }},
      {"is_leaf", [](const Tensor& w) { return full({}, w.is_leaf()); }},
      {"is_view", [](const Tensor& w) { return full({}, w.is_view()); }},
      {"is_inference", [](const Tensor& w) { return full({}, w.is_inference()); }},
      {"retains_grad", [](const Tensor& w) { return full({}, w.retains_grad()); }},
      {"storage", [](const Tensor& w) { return ones({static_cast<std::int64_t>(w.storage().nbytes())}); }},
      {"storage_offset", [](const Tensor& w) { return full({}, w.storage_offset()); }},
      {"a view", [](const Tensor& w) { return zeros({}) + w.unsqueeze(0).dim(); }},
      {"a detached tensor", [](const Tensor& w) { return ones(w.detach().sizes()); }},
      {"zeros_like", [](const Tensor& w) { return zeros_like(w); }}};
  for (const auto& [name, function] : functions) {
    INFO(name);
    Tensor w = randn({2, 3});
    auto f = compile([&] { return function(w); });
    for (int i = 0; i < 4; ++i) f();
    CHECK(f.report().replays > 0);
    w = randn({6, 2, 4}, kDouble).narrow(0, 1, 5).transpose(0, 1).requires_grad_();
    CHECK(same_bits(f(), function(w)));
  }
}

TEST_CASE("a call detects a new captured tensor that the function compares with another") {
  const Tensor w = randn({2, 3});
  Tensor other = randn({2, 3});
  auto f = compile([&] { return full({}, w.is_same(other) + w.is_alias_of(other)); });
  for (int i = 0; i < 4; ++i) f();
  CHECK(f.report().replays > 0);
  other = w;
  CHECK(f().item<double>() == 2);
}

TEST_CASE("a call detects new memory of a captured tensor of which the function reads no element") {
  const Tensor w = randn({3}), other = randn({3});
  auto alias = compile([&] { return full({}, w.is_alias_of(other)); });
  auto bytes = compile([&] { return full({}, static_cast<std::int64_t>(w.storage().nbytes())); });
  for (int i = 0; i < 4; ++i) alias(), bytes();
  CHECK(alias.report().replays > 0);
  CHECK(bytes.report().replays > 0);
  other.set_(w);
  CHECK(alias().item<double>() == 1);
  w.resize_({100});
  w.resize_({3});
  CHECK(bytes().item<double>() == 400);
}

TEST_CASE("a call detects that a captured result of another compiled function was replaced") {
  auto twice = compile([](const Tensor& x) { return x * 2; });
  const Tensor x = ones({3});
  Tensor w = twice(x);
  const Tensor memory = w.detach();
  auto f = compile([&](const Tensor& t) { return t + w; });
  settle(f, x);
  w = full({3}, 100.0);
  CHECK(same_bits(f(x), full({3}, 101.0)));
}

TEST_CASE("a call detects other properties of a gradient of which the function reads no element") {
  const std::pair<const char*, double (*)(const Tensor&)> functions[] = {
      {"is_contiguous", [](const Tensor& g) -> double { return g.is_contiguous(); }},
      {"requires_grad", [](const Tensor& g) -> double { return g.requires_grad(); }},
      {"storage_offset", [](const Tensor& g) -> double { return static_cast<double>(g.storage_offset()); }}};
  for (const auto& [name, function] : functions) {
    INFO(name);
    const Tensor p = randn({3, 3}).requires_grad_();
    auto f = compile([&, read = function] { return full({}, read(p.grad())); });
    for (int i = 0; i < 6; ++i) {
      p.mutable_grad() = ones({3, 3});  // the tensor and its memory may be others
      f();
    }
    CHECK(f.report().replays > 0);
    p.mutable_grad() = ones({6, 3}).t().narrow(1, 1, 3).requires_grad_();
    CHECK(f().item<double>() == function(p.grad()));
  }
}

TEST_CASE("a call detects that a captured tensor in the memory of a gradient was replaced") {
  const Tensor p = randn({3}).requires_grad_();
  Tensor flat = zeros({3});
  p.mutable_grad() = flat.detach();
  auto f = compile([&](const Tensor& x) {
    (p * x).sum().backward();
    return flat.sum();
  });
  settle(f, ones({3}));
  flat = full({3}, 5.0);
  CHECK(f(ones({3})).item<float>() == 15);
}

TEST_CASE("a function that reads a version counter or the bytes of a captured tensor stays eager") {
  const Tensor w = ones({2, 2});
  require_eager([&] { return full({}, w._version()); }, "version counter");
  require_eager([&] { static_cast<float*>(w.storage().data())[0] += 1; }, "reads or writes elements");
}

TEST_CASE("a function may write to memory that it shares with tensors of which it reads only the shape") {
  const Tensor w = zeros({2, 3}), other = w.data();
  auto f = compile([&](const Tensor& x) {
    w.add_(1);
    return ones(other.sizes()) + ones(x.sizes());
  });
  for (int i = 0; i < 5; ++i) f(randn({2, 3}));
  CHECK(f.report().replays == 3);
  CHECK(same_bits(w, full({2, 3}, 5.0)));
}

TEST_CASE("a function that runs backward through a graph that was recorded outside of it stays eager") {
  Tensor w = randn({3}).requires_grad_();
  const Tensor outside = w.sin();
  auto f = compile([&] { outside.backward(ones({3}), true); });
  const Warnings warnings;
  for (int i = 0; i < 6; ++i) f();
  CHECK(f.report().replays == 0);
  CHECK_THAT(f.report().reason, Contains("recorded outside"));
  w.detach().add_(1);
  CHECK_THROWS_WITH(f(), Contains("modified by an inplace operation"));
}

TEST_CASE("backward accumulates correctly after a parameter or its gradient is transposed in place") {
  Tensor w = randn({2, 2}).requires_grad_();
  auto f = compile([&](const Tensor& x) {
    const Tensor loss = (x * w).sum();
    loss.backward();
    return loss;
  });
  const Tensor x = randn({2, 2});
  f(x);
  settle(f, x);
  {
    const NoGradGuard no_grad;
    w.t_();
    w.mutable_grad().t_();
  }
  const Tensor before = w.grad().clone();
  f(x);
  CHECK(same_bits(w.grad(), before + x));
  settle(f, x);
  {
    const NoGradGuard no_grad;
    w.mutable_grad().t_();  // the memory is the same, with other strides
  }
  const Tensor turned = w.grad().clone();
  f(x);
  CHECK(same_bits(w.grad(), turned + x));
}

TEST_CASE("a call detects that a captured view of its argument was transposed in place") {
  const Tensor x = randn({3, 3});
  Tensor view = x.view({3, 3});
  auto f = compile([&](const Tensor& a) { return a + view; });
  for (int i = 0; i < 5; ++i) CHECK(same_bits(f(x), x + view));
  CHECK(f.report().replays > 0);
  view.t_();
  CHECK(same_bits(f(x), x + view));
  view.t_();
  CHECK(same_bits(f(x), x + view));
}

TEST_CASE("a call detects that a captured handle was assigned another view of the same memory") {
  const Tensor w = randn({4, 3});
  Tensor row = w[0];
  auto f = compile([&](const Tensor& x) { return x * row; });
  const Tensor x = randn({3});
  for (int at = 1; at < 4; ++at) {
    settle(f, x);
    row = w[at];
    CHECK(same_bits(f(x), x * w[at]));
  }
  const Tensor both = randn({4, 3});
  Tensor part = both[1];
  auto g = compile([&](const Tensor& a) { return a.sum() + part; });
  for (int i = 0; i < 5; ++i) g(both);
  CHECK(g.report().replays > 0);
  part = both[2];
  CHECK(same_bits(g(both), both.sum() + both[2]));
}

TEST_CASE("a call detects that a captured leaf or a captured tensor that it returns was replaced") {
  Tensor w = randn({3}).requires_grad_(), state = zeros({3});
  auto f = compile([&](const Tensor& x) {
    const Tensor loss = (x * w).sum();
    loss.backward();
    state.add_(x);
    return state;
  });
  const Tensor x = randn({3});
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) CHECK(f(x).is_same(state));
    w = randn({3}).requires_grad_();
    f(x);
    CHECK(same_bits(w.grad(), x));
    state = zeros({3});
    CHECK(same_bits(f(x), x));
  }
  CHECK(f.report().replays > 4);
}

TEST_CASE("a call detects that a captured leaf that shares the argument's memory was replaced") {
  Tensor w = randn({4}).requires_grad_();
  auto f = compile([&](const Tensor&) { (w * 3).sum().backward(); });
  const Tensor x = w.detach();
  for (int i = 0; i < 5; ++i) f(x);
  CHECK(f.report().replays > 0);
  w = randn({4}).requires_grad_();
  f(x);
  CHECK(same_bits(w.grad(), full({4}, 3.0)));
}

TEST_CASE("a compiled optimizer step reads the gradients that parameters have at each call") {
  Tensor w = randn({3}).requires_grad_(), twin = w.detach().clone().requires_grad_();
  optim::SGD optimizer({w}, 0.5), other({twin}, 0.5);
  auto step = compile([&] { optimizer.step(); });
  std::vector<Tensor> held;  // earlier gradients, whose memory must not be reused
  for (int i = 0; i < 8; ++i) {
    const Tensor x = randn({3});
    for (const Tensor& p : {w, twin}) {
      p.mutable_grad() = Tensor();
      (p * x).sum().backward();
      held.push_back(p.grad());
    }
    step();
    other.step();
    REQUIRE(same_bits(w, twin));
  }
}

TEST_CASE(
    "a call that reads a gradient detects that the gradient was assigned, replaced or cleared between "
    "calls") {
  Tensor w = randn({3}).requires_grad_();
  auto f = compile([&](const Tensor& x) { return w.grad().defined() ? x + w.grad() : x * 2; });
  const Tensor x = randn({3});
  const auto expected = [&] { return w.grad().defined() ? x + w.grad() : x * 2; };
  settle(f, x);
  w.mutable_grad() = randn({3});
  const Tensor first = w.grad();
  CHECK(same_bits(f(x), expected()));
  settle(f, x);
  w.mutable_grad() = randn({3});
  CHECK(same_bits(f(x), expected()));
  w.mutable_grad() = Tensor();
  CHECK(same_bits(f(x), expected()));
}

TEST_CASE("replays assign and reset the same gradients as the function") {
  Tensor w = randn({3}).requires_grad_(), v = randn({3}).requires_grad_();
  auto f = compile([&](const Tensor& x) {
    w.mutable_grad() = x * 2;
    v.mutable_grad() = Tensor();
    return x + 1;
  });
  for (int i = 0; i < 6; ++i) {
    v.mutable_grad() = ones({3});
    const Tensor x = randn({3});
    f(x);
    REQUIRE(same_bits(w.grad(), x * 2));
    REQUIRE_FALSE(v.grad().defined());
  }
  CHECK(f.report().replays > 0);

  nn::Linear layer(3, 2);
  auto g = compile([&](const Tensor& x) {
    layer->zero_grad(/*set_to_none=*/true);
    return layer(x).detach();
  });
  for (int i = 0; i < 6; ++i) {
    layer->weight.mutable_grad() = ones({2, 3});
    g(randn({1, 3}));
    REQUIRE_FALSE(layer->weight.grad().defined());
  }
  CHECK(g.report().replays > 0);
}

TEST_CASE("a function that changes a captured tensor, module or mode stays eager and reports why") {
  Tensor w = randn({2, 2}), leaf = randn({2}).requires_grad_();
  nn::Dropout module;
  require_eager([&] { w.t_(); }, "another shape");
  require_eager([&] { w.resize_({w.size(0) == 2 ? 1 : 2, 2}); }, "another shape");
  require_eager([&] { leaf.set_requires_grad(!leaf.requires_grad()); }, "requires_grad");
  leaf.set_requires_grad(true);
  require_eager([&] { leaf.register_hook([](const Tensor& grad) { return grad; }); }, "hooks");
  require_eager([&] { w.set_data(ones({2, 2})); }, "set_data");
  require_eager([&] { module->train(!module->is_training()); }, "mode");
  require_eager(
      [&] {
        module->register_forward_hook(
            [](nn::Module&, const std::vector<Tensor>&, const std::vector<Tensor>&) {});
      },
      "hooks");
  require_eager([&] { GradMode::set_enabled(!GradMode::is_enabled()); }, "mode");
  GradMode::set_enabled(true);
  require_eager([&] { return rand({2}, Generator(3)); }, "generator");
  require_eager([&] { std::ostringstream() << w; }, "prints");
  const Tensor base = randn({2}), view = base[0];
  base.set_requires_grad(true);  // the next write to the base makes the view part of its graph
  require_eager([&] { view.requires_grad_(false); }, "version counter");
}

TEST_CASE("a function that changes requires_grad and restores it is replayed") {
  nn::Linear judge(3, 1), maker(3, 3);
  auto step = compile([&](const Tensor& x) {
    for (const Tensor& p : judge->parameters()) p.set_requires_grad(false);
    maker->zero_grad();
    const Tensor loss = judge(maker(x)).sum();
    loss.backward();
    for (const Tensor& p : judge->parameters()) p.set_requires_grad(true);
    return loss;
  });
  const Tensor x = randn({2, 3});
  settle(step, x);
  CHECK(judge->weight.requires_grad());
  CHECK_FALSE(judge->weight.grad().defined());
}

TEST_CASE("tapes stay valid when parameters are frozen and unfrozen between calls") {
  nn::Linear judge(3, 1), maker(3, 3);
  const auto freeze = [&](bool frozen) {
    for (const Tensor& p : judge->parameters()) p.set_requires_grad(!frozen);
  };
  auto judge_step = compile([&](const Tensor& x) {
    judge->zero_grad();
    const Tensor loss = judge(x).sum();
    loss.backward();
    return loss;
  });
  auto maker_step = compile([&](const Tensor& x) {
    maker->zero_grad();
    const Tensor loss = judge(maker(x)).sum();
    loss.backward();
    return loss;
  });
  const Tensor x = randn({2, 3});
  for (int i = 0; i < 20; ++i) {
    freeze(false);
    judge_step(x);
    freeze(true);
    const Tensor before = judge->weight.grad().clone();
    maker_step(x);
    REQUIRE(same_bits(judge->weight.grad(), before));
  }
  CHECK(judge_step.report().replays >= 15);
  CHECK(maker_step.report().replays >= 15);
  // Neither of the two tapes refers to this tensor.
  Tensor other = randn({2});
  auto reads_other = compile([&] { return other * 2; });
  for (int i = 0; i < 5; ++i) reads_other();
  const std::int64_t before = judge_step.report().recordings;
  freeze(false);
  for (int i = 0; i < 20; ++i) {
    other.requires_grad_(i % 2 == 0);
    judge_step(x);
  }
  CHECK(judge_step.report().recordings <= before + 2);
}

TEST_CASE("calls run the tensor and module hooks that are registered at the time of the call") {
  nn::Linear layer(3, 2);
  int calls = 0;
  auto step = compile([&](const Tensor& x) {
    layer->zero_grad();
    const Tensor loss = layer(x).sum();
    loss.backward();
    return loss;
  });
  const Tensor x = ones({1, 3});
  settle(step, x);
  const unsigned handle = layer->weight.register_hook([&](const Tensor& grad) {
    ++calls;
    return grad * 2;
  });
  step(x);
  CHECK(calls == 1);
  CHECK(same_bits(layer->weight.grad(), full({2, 3}, 2.0)));
  layer->weight.remove_hook(handle);
  step(x);
  CHECK(same_bits(layer->weight.grad(), ones({2, 3})));

  settle(step, x);
  auto module_hook =
      layer->register_forward_hook([](nn::Module&, const std::vector<Tensor>&,
                                      const std::vector<Tensor>& outputs) { return outputs[0] * 3; });
  step(x);
  CHECK(same_bits(layer->weight.grad(), full({2, 3}, 3.0)));
  module_hook.remove();
  step(x);
  CHECK(same_bits(layer->weight.grad(), ones({2, 3})));
}

TEST_CASE("replays return the same tensor objects for arguments, captured tensors and repeated results") {
  Tensor state = zeros({2});
  auto f = compile([&](const Tensor& x) {
    state.add_(x);
    const Tensor y = x * 2;
    return std::tuple(x, state, y, y);
  });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = ones({2});
    const auto [same, kept, y, again] = f(x);
    CHECK(same.is_same(x));
    CHECK(kept.is_same(state));
    CHECK(again.is_same(y));
  }
  CHECK(f.report().replays > 0);
  auto inference = compile([](const Tensor& x) {
    const InferenceMode mode;
    return x * 2;
  });
  for (int i = 0; i < 6; ++i) CHECK(inference(ones({2})).is_inference());
  CHECK(inference.report().replays > 0);
}
