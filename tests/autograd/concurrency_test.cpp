// Graphs that several threads record and differentiate.
#include "autograd/semantics.h"

#include <atomic>
#include <thread>

using namespace semantics;

namespace {

// Runs f(i) on n threads and rethrows the first exception.
template <class F>
void on_threads(int n, F f) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      try {
        f(i);
      } catch (...) {
        errors[static_cast<std::size_t>(i)] = std::current_exception();
      }
    });
  for (auto& t : threads) t.join();
  for (auto& e : errors)
    if (e) std::rethrow_exception(e);
}

double train(int seed) {
  Variable w = ebb::full({4}, seed * 0.1, ebb::kFloat64).requires_grad_();
  double total = 0;
  for (int step = 0; step < 50; ++step) {
    Variable loss = ((w * w).sin() + w.exp()).sum();
    loss.backward();
    ebb::NoGradGuard no_grad;
    w.sub_(w.grad() * 0.01);
    w.mutable_grad().zero_();
    total += loss.item<double>();
  }
  return total;
}

// Runs a backward inside its own backward, `depth` levels deep.
struct Nested : Function<Nested> {
  static Variable forward(AutogradContext* ctx, Variable x, std::int64_t depth) {
    ctx->saved_data["depth"] = depth;
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const std::int64_t depth = ctx->saved_data["depth"].toInt();
    if (depth > 0) {
      ebb::AutoGradMode record(true);
      Variable x = ebb::ones({1}, ebb::kFloat64).requires_grad_();
      Nested::apply(x, depth - 1).backward();
      return {g[0] + x.grad(), Variable()};
    }
    return {g[0], Variable()};
  }
};

}  // namespace

TEST_CASE("backward inside backward gives the right gradient") {
  Variable x = leaf({1});
  Nested::apply(x, 1).backward();
  require_values(x.grad(), {2});
}

TEST_CASE("backward inside backward works 2000 levels deep") {
  Variable x = leaf({1});
  Nested::apply(x, 2000).backward();
  require_values(x.grad(), {2001});
}

TEST_CASE("endless backward inside backward throws and leaks nothing") {
  for (int round = 0; round < 2; ++round) {
    Variable x = leaf({1});
    CHECK_THROWS_MATCHES(Nested::apply(x, 1000000000).backward(), ebb::Error,
                         support::Saying("10000 nested calls are running"));
    require_values(Nested::apply(x, 3).sum(), {1});
  }
  Variable x = leaf({1}), y = x * 2;
  y.register_hook([&](const Variable& g) { return y.backward({}, true), g; });
  CHECK_THROWS_MATCHES(y.backward({}, true), ebb::Error, support::Saying("Stop this recursion"));
  Variable again = leaf({1});
  Nested::apply(again, 100).backward();
  require_values(again.grad(), {101});
}

TEST_CASE("threads with separate graphs train to the same loss as one thread") {
  const double expected[] = {train(0), train(1), train(2), train(3)};
  on_threads(8, [&](int i) {
    if (train(i % 4) != expected[i % 4]) throw std::runtime_error("differs");
  });
}

TEST_CASE("threads that share a leaf accumulate all gradients in it") {
  Variable w = leaf({1, 2, 3});
  constexpr int kThreads = 8, kSteps = 200;
  on_threads(kThreads, [&](int) {
    for (int i = 0; i < kSteps; ++i) (w * 2).sum().backward();
  });
  require_values(w.grad(), {2.0 * kThreads * kSteps, 2.0 * kThreads * kSteps, 2.0 * kThreads * kSteps});
}

TEST_CASE("threads that run backward through one retained graph add the same gradient each time") {
  Variable x = leaf({1, 2});
  Variable y = (x * x).sin().sum();
  on_threads(4, [&](int) {
    for (int i = 0; i < 50; ++i) y.backward({}, true);
  });
  Variable z = leaf({1, 2});
  (z * z).sin().sum().backward();
  const auto one = values(z.grad()), all = values(x.grad());
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(all[i] == Approx(200 * one[i]).epsilon(1e-10));
}

TEST_CASE("an exception of backward in one thread does not affect other threads") {
  std::atomic<int> failed{0};
  on_threads(6, [&](int i) {
    Variable x = leaf({1, 2});
    for (int k = 0; k < 50; ++k) {
      if (i % 2) {
        (x * x).sum().backward();
      } else {
        try {
          (x * x).backward();
        } catch (const ebb::Error&) {
          ++failed;
        }
      }
    }
  });
  REQUIRE(failed == 150);
}

TEST_CASE("backward gives the right gradient while another thread records ops on the same leaf") {
  Variable w = leaf({2});
  std::atomic<bool> stop{false};
  std::thread builder([&] {
    while (!stop) {
      Variable y = w;
      for (int i = 0; i < 100; ++i) y = y * 1.0;
    }
  });
  for (int i = 0; i < 200; ++i) (w * 3).backward();
  stop = true;
  builder.join();
  require_values(w.grad(), {600});
}

TEST_CASE("a tensor outlives the thread that created it and can be freed by another thread") {
  Variable made;
  std::thread([&] { made = (leaf({1, 2}) * 2).sum(); }).join();
  made.backward();
  std::thread([v = std::move(made)]() mutable { v.reset(); }).join();
  SUCCEED();
}

// Leaves share mutexes by their addresses: among many gradients, one shares the mutex of the leaf.
TEST_CASE("backward with create_graph accumulates into a grad that is a leaf") {
  const Variable x = leaf({2});
  std::vector<Variable> grads;
  for (int i = 0; i < 500; ++i) {
    grads.push_back(leaf({1}));
    x.mutable_grad() = grads.back();
    (x * x).backward({}, /*retain_graph=*/std::nullopt, /*create_graph=*/true);
    require_values(x.grad(), {5});
    x.grad().backward();
    require_values(grads.back().grad(), {1});
  }
  x.mutable_grad() = Variable();
}
