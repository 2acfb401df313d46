// Work on several streams and devices: backward, memory, copies. The tests also run with lazy streams in the
// emulation (EBB_EMU_LAZY), in which a missing event always gives a wrong result.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/compare.h"

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

using support::same;

// Makes later work on `to` wait for the work queued on `from`.
void order(const cuda::Stream& from, const cuda::Stream& to) {
  cuda::Event event;
  event.record(from);
  to.wait(event);
}

// Records the stream on which its backward runs.
struct Probe : autograd::Function<Probe> {
  static inline std::vector<cuda::Stream> seen;
  static Tensor forward(autograd::AutogradContext*, Tensor x) { return x * 1; }
  static variable_list backward(autograd::AutogradContext*, variable_list grads) {
    seen.push_back(cuda::Stream::current());
    return {grads[0] * 1};
  }
};

}  // namespace

TEST_CASE("backward runs every op on the stream of its forward") {
  const cuda::Stream home = cuda::Stream::current(), a = cuda::Stream::from_pool(),
                     b = cuda::Stream::from_pool();
  const Tensor x = ones({64}, kOnCuda).requires_grad_();
  order(home, a);
  order(home, b);
  Tensor on_a, on_b;
  {
    const cuda::StreamGuard guard(a);
    on_a = Probe::apply(x * 2);
  }
  {
    const cuda::StreamGuard guard(b);
    on_b = Probe::apply(x * 3);
  }
  order(a, home);
  order(b, home);
  const Tensor y = Probe::apply((on_a * on_b).sum());
  const auto streams_of_backward = [&] {
    Probe::seen.clear();
    x.mutable_grad().reset();
    y.backward({}, true);
    CHECK(cuda::Stream::current() == home);
    return Probe::seen;
  };
  CHECK(streams_of_backward() == std::vector<cuda::Stream>{home, b, a});
  CHECK(same(x.grad(), full({64}, 12, kFloat)));
  // Called from another stream: the ops run on their own streams, and the result is ready on the stream of
  // the call.
  const cuda::Stream c = cuda::Stream::from_pool();
  order(home, c);
  {
    const cuda::StreamGuard guard(c);
    Probe::seen.clear();
    x.mutable_grad().reset();
    y.backward({}, true);
    CHECK(Probe::seen == std::vector<cuda::Stream>{home, b, a});
    CHECK(cuda::Stream::current() == c);
    const Tensor doubled = x.grad() * 2;
    c.synchronize();
    CHECK(same(doubled, full({64}, 24, kFloat)));
    const Tensor g = autograd::grad({y}, {x}, {}, true)[0] + 1;
    c.synchronize();
    CHECK(same(g, full({64}, 13, kFloat)));
  }
}

TEST_CASE("a gradient is not overwritten before another stream has read it") {
  const cuda::Stream home = cuda::Stream::current(), a = cuda::Stream::from_pool(),
                     b = cuda::Stream::from_pool();
  const Tensor x = ones({64}, kOnCuda).requires_grad_(), v = ones({64}, kOnCuda).requires_grad_();
  order(home, a);
  order(home, b);
  Tensor first, u, last;
  {
    const cuda::StreamGuard guard(b);
    first = v * 2;
  }
  {
    const cuda::StreamGuard guard(a);
    u = x * 3;
  }
  order(a, b);
  {
    const cuda::StreamGuard guard(b);
    last = u * 5;
  }
  order(b, home);
  // In backward, b computes the gradient of u, which a reads; then b computes that of v in memory of the same
  // size.
  (first.sum() + last.sum()).backward();
  b.synchronize();  // b may run ahead of a
  CHECK(same(x.grad(), full({64}, 15, kFloat)));
  CHECK(same(v.grad(), full({64}, 2, kFloat)));
}

namespace {

// Consumes its gradient inside: no gradient leaves its stream.
struct Tally : autograd::Function<Tally> {
  static inline Tensor total;
  static Tensor forward(autograd::AutogradContext*, Tensor x) { return x * 1; }
  static variable_list backward(autograd::AutogradContext*, variable_list grads) {
    total.add_(grads[0]);
    return {Tensor()};
  }
};

}  // namespace

TEST_CASE("after backward the stream of the caller waits for all streams of backward") {
  const cuda::Stream home = cuda::Stream::current(), a = cuda::Stream::from_pool();
  const Tensor x = ones({64}, kOnCuda).requires_grad_();
  Tally::total = zeros({64}, kOnCuda);
  order(home, a);
  Tensor y;
  {
    const cuda::StreamGuard guard(a);
    y = Tally::apply(x);
  }
  order(a, home);
  (y * 3).sum().backward();
  CHECK(same(Tally::total, full({64}, 3, kFloat)));
  Tally::total = Tensor();
}

TEST_CASE("gradients from several streams are accumulated correctly") {
  const cuda::Stream home = cuda::Stream::current();
  const Tensor x = rand({32, 32}, kOnCuda.dtype(kDouble)), w = rand({32, 32}, kOnCuda.dtype(kDouble));
  const auto run = [&](bool apart) {
    const Tensor leaf = w.clone().requires_grad_();
    std::vector<Tensor> parts;
    for (int i = 0; i < 4; ++i) {
      const cuda::Stream stream = apart ? cuda::Stream::from_pool() : home;
      order(home, stream);
      {
        const cuda::StreamGuard guard(stream);
        Tensor h = x * (i + 1);
        for (int k = 0; k < 3; ++k) h = h.matmul(leaf).tanh();
        parts.push_back(h.sum());
      }
      order(stream, home);
    }
    Tensor total = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) total = total + parts[i];
    total.backward();
    return leaf.grad().cpu();
  };
  CHECK(allclose(run(true), run(false), 1e-12, 1e-14));
}

TEST_CASE("an exception in a backward on several streams leaves the caller's stream current") {
  struct Fails : autograd::Function<Fails> {
    static Tensor forward(autograd::AutogradContext*, Tensor x) { return x * 1; }
    static variable_list backward(autograd::AutogradContext*, variable_list) {
      throw std::runtime_error("on purpose");
    }
  };
  const cuda::Stream side = cuda::Stream::from_pool();
  const Tensor x = ones({4}, kOnCuda).requires_grad_();
  cuda::synchronize();
  Tensor y;
  {
    const cuda::StreamGuard guard(side);
    y = Fails::apply(x * 2).sum();
  }
  order(side, cuda::Stream::current());
  CHECK_THROWS_WITH(y.backward(), "on purpose");
  CHECK(cuda::Stream::current() == cuda::Stream::default_stream());
}

TEST_CASE("memory that another stream still uses is not reused") {
  const cuda::Stream home = cuda::Stream::current(), side = cuda::Stream::from_pool();
  Tensor y;
  {
    const Tensor x = full({1 << 20}, 3, kOnCuda.dtype(kFloat));
    x.record_stream(side);
    order(home, side);
    const cuda::StreamGuard guard(side);
    y = x * 2;
  }
  // The size and the stream are the same: without record_stream, `side` would read these bytes.
  const Tensor z = full({1 << 20}, -1, kOnCuda.dtype(kFloat));
  home.synchronize();
  side.synchronize();
  CHECK(same(y, full({1 << 20}, 6, kFloat)));
  CHECK(same(z, full({1 << 20}, -1, kFloat)));
  CHECK_THROWS_WITH(ones({2}).record_stream(side), Contains("record_stream") && Contains("cpu"));
}

TEST_CASE("memory returns to the cache after the last stream that uses it is done") {
  cuda::empty_cache();
  const MemoryStats before = cuda::memory_stats();
  const cuda::Stream side = cuda::Stream::from_pool();
  {
    zeros({1 << 20}, kOnCuda).record_stream(side);
  }
  side.synchronize();
  const std::size_t cached = cuda::memory_stats().cached;
  {
    const Tensor again = zeros({1 << 20}, kOnCuda);
  }
  CHECK(cuda::memory_stats().cached == cached);
  cuda::empty_cache();
  CHECK(cuda::memory_stats().cached == before.cached);
}

TEST_CASE("copies between devices are ordered with the earlier and later work of both streams",
          "[two_devices]") {
  if (cuda::device_count() < 2) return;
  const Device first("cuda:0"), second("cuda:1");
  const cuda::Stream a = cuda::Stream::from_pool(first), b = cuda::Stream::from_pool(second);
  cuda::synchronize(0);
  cuda::synchronize(1);
  const cuda::StreamGuard on_a(a), on_b(b);
  Tensor x = zeros({1000}, TensorOptions(first)), y = zeros({1000}, TensorOptions(second)), sum = y.clone();
  for (int i = 1; i <= 5; ++i) {
    x.fill_(i);
    y.copy_(x);  // must not overtake the use of y below, nor be overtaken by the next fill_
    sum.add_(y);
  }
  CHECK(same(sum, full({1000}, 15, kFloat)));
  const Tensor moved = (x * 2).to(second) + y;
  CHECK(same(moved, full({1000}, 15, kFloat)));
}

TEST_CASE("copies between devices convert dtypes and layouts", "[two_devices]") {
  if (cuda::device_count() < 2) return;
  const Device second("cuda:1");
  const Tensor x = arange(24, kOnCuda).view({2, 3, 4});
  CHECK(same(x.transpose(0, 2).to(second), x.transpose(0, 2)));
  CHECK(same(x.to(second, kDouble), x.to(kDouble)));
  CHECK(same(x.transpose(0, 1).to(second, kHalf), x.transpose(0, 1).to(kHalf)));
  Tensor y = zeros({4, 3, 2}, TensorOptions(second).dtype(kFloat));
  y.transpose(0, 2).copy_(x);
  CHECK(same(y, x.transpose(0, 2).to(kFloat)));
  const Tensor leaf = ones({3}, kOnCuda).requires_grad_();
  (leaf.to(second) * 2).to(Device("cuda:0")).mul(3).sum().backward();
  CHECK(leaf.grad().device() == Device("cuda:0"));
  CHECK(same(leaf.grad(), full({3}, 6, kFloat)));
}
