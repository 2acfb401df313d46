// Views and writes through them, in addition to the simple cases of in_place_test.cpp.
#include "autograd/semantics.h"

using namespace semantics;

TEST_CASE("views: a second backward with retain_graph works after a write to a view") {
  Variable x = leaf({1, 2, 3});
  Variable base = x * 2;
  base[1].mul_(base[1].detach().clone());
  Variable y = (base * base).sum();  // 4 x0^2, (2 x1)^2 (2 x1')^2 with constant x1', 4 x2^2
  y.backward({}, true);
  require_values(x.grad(), {8, 256, 24});
  y.backward();
  require_values(x.grad(), {16, 512, 48});
  EBB_REQUIRE_ERROR(y.backward(), "second time");

  Variable z = leaf({1, 2});
  Variable filled = z * 2;
  filled[0].exp_();
  Variable s = filled.sum();
  s.backward();
  EBB_REQUIRE_ERROR(s.backward(), "(ExpBackward0): the saved tensors have already been freed");
}

TEST_CASE(
    "views: a write to a view has the right gradient if the base has an offset or gaps in its storage") {
  Variable x = ebb::arange(12, ebb::kFloat64).requires_grad_();
  Variable base = (x * 1).view({3, 4}).narrow(0, 1, 2);  // its own base begins before it
  base.t()[1].mul_(10);
  const Variable weights = ebb::arange(1, 9, ebb::kFloat64).view({2, 4});
  require_values(grad({(base * weights).sum()}, {x})[0], {0, 0, 0, 0, 1, 20, 3, 4, 5, 60, 7, 8});

  // A base with an offset in its storage.
  Variable late = ebb::arange(6, ebb::kFloat64).narrow(0, 2, 4).detach(), w = leaf({10});
  late[1].mul_(w[0]);
  require_values(late, {2, 30, 4, 5});
  require_values(grad({(late * ebb::tensor({1.0, 7.0, 100.0, 1000.0}, ebb::kFloat64)).sum()}, {w})[0], {21});
}

TEST_CASE("views: results of chunk and unbind get a new history after a write to their base") {
  for (const bool unbind : {false, true}) {
    Variable x = leaf({1, 2, 3, 4});
    Variable base = x * 1;
    const std::vector<Variable> parts = unbind ? base.view({2, 2}).unbind(0) : base.chunk(2);
    REQUIRE(parts[1].output_nr() == 1);
    base.mul_(3);
    REQUIRE(parts[1].output_nr() == 0);
    REQUIRE(parts[1].grad_fn()->name() == "AsStridedBackward0");
    require_values(grad({(parts[1] * parts[1]).sum()}, {x})[0], {0, 0, 54, 72});
  }
}

TEST_CASE("views: views of a result of chunk also forbid in-place writes") {
  Variable x = leaf({1, 2, 3, 4});
  Variable y = x * 1;
  const Variable part = y.view({4}).chunk(2)[1];
  for (const Variable& v : {part, part.view({2, 1}), part[0], part.view({2, 1})[1]})
    EBB_REQUIRE_ERROR(v.mul_(2), "one of several views");
  require_values(y, {1, 2, 3, 4});
  {
    const ebb::NoGradGuard no_grad;
    part.view({2, 1}).mul_(2);
  }
  require_values(y, {1, 2, 6, 8});
  const Variable narrow = y.narrow(0, 0, 2);
  narrow.view({2, 1}).mul_(5);  // a single view can be written
  require_values(y, {5, 10, 6, 8});
}

TEST_CASE("views: views created under no_grad forbid in-place writes while recording") {
  Variable x = leaf({1, 2, 3, 4});
  const Variable y = x * 1;
  for (const Variable& base : {x, y}) {
    Variable view, inner, parts;
    {
      const ebb::NoGradGuard no_grad;
      view = base.view({2, 2});
      inner = view[0];
      parts = base.chunk(2)[0];
      REQUIRE_FALSE((base * 2).requires_grad());
    }
    const Variable outer = view[1];  // a view of it that is created with grad mode on also forbids writes
    for (const Variable& v : {view, inner, parts, outer}) {
      REQUIRE(v.is_view());
      REQUIRE(v.requires_grad());
      EBB_REQUIRE_ERROR(v.mul_(2), "A view was created in no_grad mode and is being modified inplace");
    }
    for (const Variable& v : {view, inner, parts}) REQUIRE(v.is_leaf());
    require_values(base, {1, 2, 3, 4});
    {
      const ebb::NoGradGuard no_grad;
      inner.mul_(1);
    }
    EBB_REQUIRE_ERROR(view * 2,
                      "A view was created in no_grad mode and its base or another view of its base");
  }
}

TEST_CASE("views: no gradient flows through a view created under no_grad") {
  Variable x = leaf({1, 2}), w = leaf({3, 4});
  Variable view;
  {
    const ebb::NoGradGuard no_grad;
    view = x.view({2});
  }
  Variable y = (view * w).sum();
  y.backward({}, true);
  require_values(w.grad(), {1, 2});
  REQUIRE_FALSE(x.grad().defined());
  REQUIRE_FALSE(view.grad().defined());
  EBB_REQUIRE_ERROR(ebb::autograd::backward({view}, {ebb::ones({2}, ebb::kFloat64)}),
                    "element 0 of tensors does not require grad and does not have a grad_fn");
  EBB_REQUIRE_ERROR(grad({y}, {view}, {}, true), "not have been used in the graph");
  const auto grads = grad({y}, {w, view}, {}, true, false, true);
  require_values(grads[0], {1, 2});
  REQUIRE_FALSE(grads[1].defined());
}

TEST_CASE("views: a view created under no_grad can become a leaf") {
  const Variable plain = ebb::ones({4}, ebb::kFloat64);
  Variable view;
  {
    const ebb::NoGradGuard no_grad;
    view = plain.view({2, 2});
  }
  REQUIRE_FALSE(view.requires_grad());
  view.mul_(2);
  view.requires_grad_();
  (view * 3).sum().backward();
  require_values(view.grad(), {3, 3, 3, 3});
  EBB_REQUIRE_ERROR(view.mul_(2), "modified inplace");
  EBB_REQUIRE_ERROR(view[0].mul_(2), "a view of a leaf Variable that requires grad");
}

TEST_CASE("views: a view requires grad after a tensor that requires grad is written to its base") {
  Variable b = ebb::ones({2}, ebb::kFloat64);
  const Variable view = b[0];
  REQUIRE_FALSE(view.requires_grad());
  Variable w = leaf({3});
  b.mul_(w);
  REQUIRE(view.requires_grad());
  REQUIRE_FALSE(view.is_leaf());
  EBB_REQUIRE_ERROR(view.requires_grad_(false), "only change requires_grad flags of leaf variables");
  (view * 2).backward();
  require_values(w.grad(), {2});
}

TEST_CASE("views: requires_grad_ on a view that requires grad changes nothing") {
  Variable x = leaf({1, 2});
  Variable base = x * 1;
  Variable view = base.view({2, 1});
  view.requires_grad_();
  view[0].mul_(5);
  require_values(grad({base.sum()}, {x})[0], {5, 1});
}

TEST_CASE("views: a dimension of one element with stride 0 can be written") {
  Variable x = ebb::zeros({3, 2}, ebb::kFloat64);
  x.as_strided({2, 1, 3}, {1, 0, 2}).add_(1);
  require_values(x, {1, 1, 1, 1, 1, 1});
  EBB_REQUIRE_ERROR(x.as_strided({2, 2, 3}, {1, 0, 2}).add_(1), "single memory location");
}

TEST_CASE("views: retain_grad of a view works after a write to its base") {
  Variable x = leaf({1, 2});
  Variable base = x * 1;
  Variable view = base[1];
  view.retain_grad();
  base.retain_grad();
  base[1].mul_(3);
  (view * 2 + base.sum()).backward();
  require_values(view.grad(), {2});
  require_values(base.grad(), {1, 3});
  require_values(x.grad(), {1, 9});
}

TEST_CASE("views: an in-place change of sizes and strides affects only the view") {
  struct Change {
    const char* name;
    std::vector<std::int64_t> sizes;  // of the view
    Variable (*in_place)(const Variable&);
    Variable (*fresh)(const Variable&);
  };
  using V = const Variable&;
  const Change changes[] = {
      {"t_", {3, 2}, [](V v) -> Variable { return v.t_(); }, [](V v) { return v.t(); }},
      {"transpose_",
       {3, 1, 2},
       [](V v) -> Variable { return v.transpose_(0, 2); },
       [](V v) { return v.transpose(0, 2); }},
      {"swapaxes_",
       {3, 1, 2},
       [](V v) -> Variable { return v.swapaxes_(0, 2); },
       [](V v) { return v.swapaxes(0, 2); }},
      {"swapdims_",
       {3, 1, 2},
       [](V v) -> Variable { return v.swapdims_(0, 1); },
       [](V v) { return v.swapdims(0, 1); }},
      {"squeeze_", {3, 1, 2}, [](V v) -> Variable { return v.squeeze_(); }, [](V v) { return v.squeeze(); }},
      {"unsqueeze_",
       {3, 2},
       [](V v) -> Variable { return v.unsqueeze_(1); },
       [](V v) { return v.unsqueeze(1); }},
      {"as_strided_",
       {3, 2},
       [](V v) -> Variable { return v.as_strided_({2, 2}, {1, 3}, 1); },
       [](V v) { return v.as_strided({2, 2}, {1, 3}, 1); }},
  };
  for (const Change& change : changes) {
    INFO(change.name);
    // Compares the gradient of the view, that of the base, and both second derivatives.
    const auto gradients = [&](bool in_place) {
      const Variable x = ebb::arange(6, ebb::kFloat64).view({2, 3}).requires_grad_();
      const Variable base = x.sin();
      Variable view = base.view(change.sizes);
      view = in_place ? change.in_place(view) : change.fresh(view);
      const Variable weights = ebb::arange(1, view.numel() + 1, ebb::kFloat64).view(view.sizes());
      view.mul_(weights);
      const Variable loss = (view * view * weights).sum() + (base * base * base).sum();
      const Variable first = grad({loss}, {x}, {}, true, true)[0];
      return std::pair(first, grad({(first * x).sum()}, {x})[0]);
    };
    const auto [first, second] = gradients(true);
    const auto [expected_first, expected_second] = gradients(false);
    CHECK(ebb::allclose(first, expected_first, 1e-13, 1e-13));
    CHECK(ebb::allclose(second, expected_second, 1e-13, 1e-13));
  }
}

TEST_CASE("views: sizes and strides of a view can change in place even if its elements cannot") {
  const Variable x = ebb::arange(6, ebb::kFloat64).view({2, 3}).requires_grad_();
  const Variable weights = ebb::arange(6, ebb::kFloat64).view({3, 2});
  for (Variable view : {x.view({2, 3}), ebb::einsum("ij->ij", {x})}) {
    view.t_();
    EBB_REQUIRE_ERROR(view.mul_(2), "a view of a leaf Variable that requires grad");
    require_values(grad({(view * weights).sum()}, {x})[0], {0, 2, 4, 1, 3, 5});
  }
  Variable expanded = ebb::ones({3, 1}, ebb::kFloat64).expand({3, 4});
  CHECK(expanded.t_().sizes() == ebb::IntArrayRef({4, 3}));
  EBB_REQUIRE_ERROR(x.split(1)[0].t_(), "one of several views");
  EBB_REQUIRE_ERROR(x.t_(), "a leaf Variable that requires grad");
}

TEST_CASE("views: a second backward passes through a write that saved no tensor") {
  const Variable x = leaf({1, 2, 3, 4}), s = leaf({5, 6});
  const Variable square = x.view({2, 2});
  for (const Variable& y : {ebb::select_scatter(square, s, 0, 1), ebb::diagonal_scatter(square, s),
                            ebb::slice_scatter(square, s.view({1, 2}), 0, 1, 2)}) {
    y.backward(ebb::ones_like(y));
    y.backward(ebb::ones_like(y));
  }
  REQUIRE(s.grad().equal(ebb::full({2}, 6, ebb::kDouble)));
  // A write that saved a tensor throws in the second backward.
  const Variable z = square * 1;
  z.select(0, 0).mul_(s);
  z.backward(ebb::ones_like(z));
  EBB_REQUIRE_ERROR(z.backward(ebb::ones_like(z)), "Trying to backward through the graph a second time");
}

// PyTorch 2.15 also runs the hooks. It gives no gradient to elements that as_strided_ adds to the view.
TEST_CASE("views: hooks and retained gradients of a view survive a change of its sizes and strides") {
  const std::vector<std::pair<const char*, std::function<void(const Variable&)>>> changes = {
      {"t_", [](const Variable& y) { y.t_(); }},
      {"transpose_", [](const Variable& y) { y.transpose_(0, 1); }},
      {"swapaxes_", [](const Variable& y) { y.swapaxes_(0, 1); }},
      {"swapdims_", [](const Variable& y) { y.swapdims_(0, 1); }},
      {"unsqueeze_", [](const Variable& y) { y.unsqueeze_(1); }},
      {"squeeze_", [](const Variable& y) { y.squeeze_(); }},
      {"squeeze_ of a dimension", [](const Variable& y) { y.squeeze_(0); }},
      {"as_strided_", [](const Variable& y) { y.as_strided_({4, 2}, {1, 4}, 4); }},
      {"two changes", [](const Variable& y) { y.unsqueeze_(0).transpose_(1, 2); }},
  };
  const Variable weights = ebb::arange(1, 9, ebb::kFloat64);
  for (const bool of_leaf : {false, true})
    for (const auto& [name, change] : changes) {
      INFO(name << (of_leaf ? ", view of a leaf" : ""));
      const Variable x = ebb::arange(12, ebb::kFloat64).view({3, 4}).detach().requires_grad_();
      const Variable y = (of_leaf ? x : x * 1).narrow(0, 1, 2);
      Variable seen;
      y.retain_grad();
      y.register_hook([&](const Variable& g) {
        seen = g;
        return g * 2;
      });
      change(y);
      const Variable factors = weights.as_strided(y.sizes(), y.strides(), 0);
      (y.square().square() * factors).sum().backward();
      REQUIRE(seen.defined());
      CHECK(seen.sizes() == ebb::IntArrayRef({2, 4}));
      REQUIRE(y.grad().defined());
      CHECK(ebb::allclose(y.grad(), y.detach().pow(3) * 4 * factors));
      const Variable rows = x.detach().narrow(0, 1, 2);
      const Variable expected = rows.pow(3) * 4 * weights.view({2, 4});
      CHECK(ebb::allclose(seen, expected));
      CHECK(ebb::allclose(x.grad().narrow(0, 1, 2), expected * 2));
      CHECK(x.grad()[0].abs().sum().item<double>() == 0);
    }
  const Variable x = ebb::arange(12, ebb::kFloat64).view({3, 4}).detach().requires_grad_();
  const Variable wide = (x * 1).narrow(0, 0, 2);
  wide.as_strided_({3, 4}, {4, 1});
  wide.sum().backward();
  CHECK(ebb::equal(x.grad(), ebb::ones({3, 4}, ebb::kFloat64)));
}
