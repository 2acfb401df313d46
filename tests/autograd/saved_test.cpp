// Tensors that nodes save for backward, with and without hooks, and when they are freed.
#include <ebb/autograd/saved_variable.h>

#include "autograd/semantics.h"

#include <pthread.h>

#include <cmath>

using namespace semantics;
using ebb::autograd::SavedTensorHooks;

namespace {

std::shared_ptr<void> keep(const Variable& x) { return std::make_shared<Variable>(x.detach()); }
Variable give(const std::shared_ptr<void>& kept) { return *static_cast<Variable*>(kept.get()); }

// Returns 2 x and e^x, and saves the second.
struct DoubleAndExp : Function<DoubleAndExp> {
  static Variable unpacked;
  static variable_list forward(AutogradContext* ctx, Variable x) {
    const Variable second = x.exp();
    ctx->save_for_backward({second});
    return {x * 2, second};
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    unpacked = ctx->get_saved_variables()[0];
    return {g[0] * 2 + g[1] * unpacked};
  }
};
Variable DoubleAndExp::unpacked;

struct Multiples : Function<Multiples> {
  static variable_list forward(AutogradContext*, Variable x) { return {x * 2, x * 3}; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2 + g[1] * 3}; }
};

// Saves a tensor that is not one of its arguments.
struct KeepsOther : Function<KeepsOther> {
  static Variable other;
  static Variable forward(AutogradContext* ctx, Variable x) {
    ctx->save_for_backward({other});
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    REQUIRE(ctx->get_saved_variables().size() == 1);
    return {g[0]};
  }
};
Variable KeepsOther::other;

// Calls f once as it is, and once with hooks that pack saved tensors.
template <class F>
void with_and_without_hooks(F f) {
  f();
  const SavedTensorHooks hooks(keep, give);
  f();
}

}  // namespace

TEST_CASE("saved: a saved second output passes its gradient to the second output of its node") {
  with_and_without_hooks([] {
    const Variable x = leaf({0.5, 2});
    const variable_list y = DoubleAndExp::apply(x);
    REQUIRE(y[1].output_nr() == 1);
    const Variable g = grad({y[1].sum()}, {x}, {}, true, true)[0];
    require_values(g, {std::exp(0.5), std::exp(2)});
    require_values(grad({g.sum()}, {x})[0], {std::exp(0.5), std::exp(2)});
    DoubleAndExp::unpacked.reset();
  });
}

TEST_CASE("saved: an unpacked output has a grad_fn only while recording") {
  with_and_without_hooks([] {
    const Variable x = leaf({0.5});
    const variable_list y = DoubleAndExp::apply(x);
    (void)grad({y[1]}, {x}, {}, true);
    require_values(DoubleAndExp::unpacked, {std::exp(0.5)});
    REQUIRE_FALSE(DoubleAndExp::unpacked.requires_grad());
    (void)grad({y[1]}, {x}, {}, true, true);
    REQUIRE(DoubleAndExp::unpacked.grad_fn() == y[1].grad_fn());
    REQUIRE(DoubleAndExp::unpacked.output_nr() == 1);
    DoubleAndExp::unpacked.reset();
  });
}

TEST_CASE("saved: an in-place op that saves its input keeps the output number of the input") {
  const Variable x = leaf({0.5});
  Variable y = Multiples::apply(x)[1];
  y.sin_();
  const Variable g = grad({y}, {x}, {}, true, true)[0];
  require_values(g, {3 * std::cos(1.5)});
  require_values(grad({g}, {x})[0], {-9 * std::sin(1.5)});
}

TEST_CASE("saved: backward frees each tensor that was saved") {
  const Variable x = leaf({1, 2});
  const Variable a = x * 2, b = x * 3;
  const Variable y = (a * b).sum();
  REQUIRE(a.use_count() == 2);
  REQUIRE(b.use_count() == 2);
  y.backward();
  REQUIRE(a.use_count() == 1);
  REQUIRE(b.use_count() == 1);
}

TEST_CASE("saved: backward frees the packed object of a hook") {
  const Variable x = leaf({1, 2});
  std::vector<std::weak_ptr<void>> packed;
  Variable y;
  {
    const SavedTensorHooks hooks(
        [&](const Variable& t) {
          const std::shared_ptr<void> value = keep(t);
          packed.push_back(value);
          return value;
        },
        give);
    y = (x * x.exp()).sum();
  }
  REQUIRE(packed.size() == 3);
  for (const auto& value : packed) REQUIRE_FALSE(value.expired());
  y.backward();
  for (const auto& value : packed) REQUIRE(value.expired());
}

TEST_CASE("saved: backward frees the history of a tensor that a hook packed") {
  const Variable x = leaf({1});
  KeepsOther::other = leaf({2}) * 3;
  Variable y;
  {
    const SavedTensorHooks hooks(keep, give);
    y = KeepsOther::apply(x);
  }
  KeepsOther::other.reset();
  const auto nodes = ebb::live_node_count();
  y.backward();
  REQUIRE(ebb::live_node_count() == nodes - 2);  // the node of the product and the accumulator of its leaf
}

TEST_CASE("saved: a node that saved only an undefined tensor allows a second backward") {
  const Variable x = leaf({1});
  const Variable y = KeepsOther::apply(x);
  y.backward();
  y.backward();
  require_values(x.grad(), {2});
}

TEST_CASE("saved: an unpack hook must return a tensor") {
  const Variable x = leaf({1});
  Variable y;
  {
    const SavedTensorHooks hooks(keep, [](const std::shared_ptr<void>&) { return Variable(); });
    y = x.exp();
  }
  EBB_REQUIRE_ERROR(y.backward(), "SavedTensorHooks: the unpack hook returned an undefined tensor.");
}

// Saved-tensor hooks: the tensors that they get, and the use of the tensors that they return.

namespace {

std::shared_ptr<void> keep_itself(const Variable& x) { return std::make_shared<Variable>(x); }

}  // namespace

TEST_CASE("saved hooks: a pack hook that stores its argument creates no reference cycle") {
  const auto nodes = ebb::live_node_count();
  {
    const SavedTensorHooks hooks(keep_itself, give);
    Variable x = leaf({0.5});
    Variable y = x.exp().tanh().sigmoid();
    const Variable g = grad({y}, {x}, {}, true, true)[0];
    (void)grad({g}, {x}, {}, true);
  }
  REQUIRE(ebb::live_node_count() == nodes);
}

TEST_CASE("saved hooks: unpacked tensors are linked to the right outputs of their node") {
  Variable x = leaf({1, 2, 3, 4});
  const auto parts = (x * 1).chunk(2);
  Variable y;
  {
    const SavedTensorHooks hooks(keep_itself, give);
    y = (parts[0] * parts[1]).sum();
  }
  const Variable g = grad({y}, {x}, {}, true, true)[0];
  require_values(g, {3, 4, 1, 2});
  require_values(grad({(g * ebb::tensor({1.0, 10.0, 100.0, 1000.0}, ebb::kFloat64)).sum()}, {x})[0],
                 {100, 1000, 1, 10});
}

TEST_CASE("saved hooks: nodes that saved their result compute with it after the input was written") {
  const Variable x = leaf({0.5, 1});
  Variable h = x * 2, y;
  {
    const SavedTensorHooks hooks(keep_itself, give);
    y = h.tanh();
  }
  const Variable expected = grad({(x * 2).tanh().sum()}, {x})[0];
  h.add_(1);
  y.sum().backward();
  REQUIRE(x.grad().allclose(expected, 1e-14));
}

TEST_CASE("saved hooks: backward throws if the unpacked tensor has another shape or dtype") {
  const std::pair<const char*, Variable> others[] = {{"shape", ebb::ones({3}, ebb::kDouble)},
                                                     {"rank", ebb::ones({1, 2}, ebb::kDouble)},
                                                     {"dtype", ebb::ones({2}, ebb::kInt)}};
  for (const auto& [name, other] : others) {
    INFO(name);
    const Variable x = leaf({1, 2}), w = leaf({3, 4});
    Variable y;
    {
      const SavedTensorHooks hooks(keep_itself, give);
      y = (x * w).sum();
    }
    w.detach_().set_data(other);
    EBB_REQUIRE_ERROR(y.backward(), "was packed as Double[2] on cpu, but its unpack hook returned");
    REQUIRE_FALSE(x.grad().defined());
  }
}

// When nodes and their saved tensors are freed.

TEST_CASE("a second backward through a freed graph throws and names retain_graph") {
  Variable x = leaf({3});
  Variable y = (x * x).sum();
  y.backward();
  EBB_REQUIRE_ERROR(y.backward(), "Trying to backward through the graph a second time");
  EBB_REQUIRE_ERROR(y.backward(), "retain_graph");
}

TEST_CASE("backward with retain_graph allows a second backward") {
  Variable x = leaf({3});
  Variable y = x * x;
  y.backward({}, true);
  y.backward();
  require_values(x.grad(), {12});
}

TEST_CASE("a second backward through ops that saved nothing works") {
  Variable x = leaf({3});
  Variable y = x + 1;
  y.backward();
  y.backward();
  require_values(x.grad(), {2});
}

TEST_CASE("create_graph allows products of a Hessian and a vector") {
  Variable x = leaf({1, 2, 3});
  const Variable v = ebb::tensor({1.0, 0.5, -1.0}, ebb::kFloat64);
  Variable g = grad({(x * x * x).sum()}, {x}, {}, true, true)[0];
  require_values(grad({(g * v).sum()}, {x})[0], {6, 6, -18});
}

TEST_CASE("create_graph allows third derivatives") {
  Variable x = leaf({2});
  Variable y = x.pow(5);
  Variable g1 = grad({y}, {x}, {}, true, true)[0];
  Variable g2 = grad({g1}, {x}, {}, true, true)[0];
  Variable g3 = grad({g2}, {x}, {}, true, true)[0];
  require_values(g1, {80});
  require_values(g2, {160});
  require_values(g3, {240});
  Variable s = grad({grad({grad({x.sin()}, {x}, {}, true, true)[0]}, {x}, {}, true, true)[0]}, {x})[0];
  require_values(s, {-std::cos(2.0)});
}

TEST_CASE("a chain of 150,000 nodes is freed without overflowing the stack") {
  Variable y = leaf({1});
  for (int i = 0; i < 150000; ++i) y = y + 1;
  y.reset();
  SUCCEED();
}

TEST_CASE("backward through 100,000 nodes with skip links gives the right gradient") {
  Variable x = leaf({1});
  Variable before = x, y = x;
  for (int i = 0; i < 100000; ++i) {
    Variable next = i % 3 ? y + 0.0 : (y + before) * 0.5;
    before = y;
    y = next;
  }
  y.backward();
  require_values(x.grad(), {1});
}

TEST_CASE("backward through a million nodes gives the right gradient") {
  Variable x = leaf({1});
  Variable y = x;
  for (int i = 0; i < 1000000; ++i) y = y + 1;
  y.backward();
  require_values(x.grad(), {1});
}

TEST_CASE("backward frees the storages that ops saved") {
  Variable x = ebb::ones({1000}, ebb::kFloat64).requires_grad_();
  const auto before = ebb::live_storage_count();
  Variable y = x.exp().sum();
  const auto built = ebb::live_storage_count();
  y.backward();
  // The result of exp is freed, and .grad is allocated.
  REQUIRE(ebb::live_storage_count() <= built);
  REQUIRE(ebb::live_storage_count() - before <= 2);
}

TEST_CASE("add saves no input and mul saves only the factor of an input that requires grad") {
  Variable x = ebb::ones({10}, ebb::kFloat64).requires_grad_();
  Variable c = ebb::ones({10}, ebb::kFloat64);
  const auto uses = c.array().storage()->use_count();
  Variable sum = x + c;
  REQUIRE(c.array().storage()->use_count() == uses);
  const auto x_uses = x.array().storage()->use_count();
  Variable product = x * c;  // the gradient needs c, not x
  REQUIRE(x.array().storage()->use_count() == x_uses);
}

TEST_CASE("the counts of live nodes and storages return to their start values after a graph is freed") {
  const auto nodes = ebb::live_node_count();
  const auto storages = ebb::live_storage_count();
  {
    Variable x = ebb::ones({8, 8}, ebb::kFloat64).requires_grad_();
    Variable y = x;
    for (int i = 0; i < 50; ++i) y = (y.matmul(x) * 0.1).tanh() + y.t();
    y.sum().backward();
    REQUIRE(ebb::live_node_count() > nodes);
  }
  REQUIRE(ebb::live_node_count() == nodes);
  REQUIRE(ebb::live_storage_count() == storages);
}

TEST_CASE("resetting grad breaks the reference cycle of backward with create_graph") {
  const auto nodes = ebb::live_node_count();
  {
    Variable x = leaf({2});
    (x * x * x).backward({}, true, true);  // x.grad depends on x
    REQUIRE(x.grad().requires_grad());
    x.mutable_grad().reset();
  }
  REQUIRE(ebb::live_node_count() == nodes);
}

TEST_CASE("a thread with a stack of 64 KiB can record, differentiate and free long and nested graphs") {
  static std::vector<Variable> levels;
  const auto work = [](void*) -> void* {
    Variable x = leaf({1}), y = x;
    for (int i = 0; i < 50000; ++i) y = y + 1;
    y.backward();
    for (std::size_t level = 0; level < 30; ++level) {
      levels.push_back(leaf({1}) * 1);
      if (level > 0) levels[level].register_hook([level](const Variable&) { levels[level - 1].backward(); });
    }
    levels.back().backward();
    levels.clear();
    return nullptr;
  };
  pthread_attr_t small;
  pthread_attr_init(&small);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::size_t frames = 4;  // instrumented frames are several times larger
#else
  constexpr std::size_t frames = 1;
#endif
  pthread_attr_setstacksize(&small, frames * (64 << 10));
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &small, work, nullptr) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&small);
}
