// When nodes and what they saved are freed.
#include <pthread.h>

#include "autograd/semantics.h"

using namespace semantics;

TEST_CASE("a second backward through a freed graph throws and names retain_graph") {
  Variable x = leaf({3});
  Variable y = (x * x).sum();
  y.backward();
  EBB_REQUIRE_ERROR(y.backward(), "Trying to backward through the graph a second time");
  EBB_REQUIRE_ERROR(y.backward(), "retain_graph");
}

TEST_CASE("backward with retain_graph keeps the graph for a second backward") {
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

TEST_CASE("create_graph gives the product of a Hessian and a vector") {
  Variable x = leaf({1, 2, 3});
  const Variable v = ebb::tensor({1.0, 0.5, -1.0}, ebb::kFloat64);
  Variable g = grad({(x * x * x).sum()}, {x}, {}, true, true)[0];
  require_values(grad({(g * v).sum()}, {x})[0], {6, 6, -18});
}

TEST_CASE("create_graph gives derivatives of third order") {
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
  // exp's result is freed; .grad has come to be.
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

TEST_CASE("the counts of live nodes and storages return to their start when a graph goes out of scope") {
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

TEST_CASE("resetting grad frees the cycle that backward with create_graph makes") {
  const auto nodes = ebb::live_node_count();
  {
    Variable x = leaf({2});
    (x * x * x).backward({}, true, true);  // x.grad depends on x
    REQUIRE(x.grad().requires_grad());
    x.mutable_grad().reset();
  }
  REQUIRE(ebb::live_node_count() == nodes);
}

TEST_CASE(
    "a thread with a stack of 64 KiB builds, walks and frees graphs, long ones too, and walks within walks") {
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
  constexpr std::size_t frames = 4;  // instrumented frames are several times as large
#else
  constexpr std::size_t frames = 1;
#endif
  pthread_attr_setstacksize(&small, frames * (64 << 10));
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &small, work, nullptr) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&small);
}
