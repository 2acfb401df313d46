// Random numbers and dropout on a device.
#include <ebb/ebb.h>

#include "ops/random/kernels.h"
#include "support/catch.h"
#include "support/compare.h"

// Random numbers of a device.

using namespace ebb;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

using support::same, support::Contains;

}  // namespace

TEST_CASE("manual_seed makes random numbers on a device repeatable") {
  const auto draw = [] {
    manual_seed(5);
    return std::vector<Tensor>{rand({100}, kOnCuda), randn({33}, kOnCuda.dtype(kDouble)),
                               randint(50, {20}, kOnCuda), randperm(30, kOnCuda),
                               dropout(ones({64}, kOnCuda), 0.3, true)};
  };
  const std::vector<Tensor> first = draw(), second = draw();
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(same(first[i], second[i]));
  CHECK_FALSE(same(rand({100}, kOnCuda), rand({100}, kOnCuda)));
}

TEST_CASE("a separate generator makes random numbers on a device repeatable") {
  CHECK(same(randn({50}, Generator(3), kOnCuda), randn({50}, Generator(3), kOnCuda)));
  CHECK_FALSE(same(randn({50}, Generator(3), kOnCuda), randn({50}, Generator(4), kOnCuda)));
}

TEST_CASE("random numbers on a device do not advance the CPU generator") {
  manual_seed(9);
  const Tensor expected = rand({4});
  manual_seed(9);
  rand({1000}, kOnCuda);
  CHECK(same(rand({4}), expected));
}

TEST_CASE("random numbers on a device do not depend on the strides of the tensor") {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt}) {
    INFO(to_string(dtype));
    const auto drawn = [&](Tensor to) {
      manual_seed(3);
      return is_floating(dtype) ? to.normal_() : to.random_(0, 1 << 20);
    };
    const TensorOptions options = kOnCuda.dtype(dtype);
    const Tensor expected = drawn(zeros({7, 9}, options));
    CHECK(same(drawn(zeros({9, 7}, options).t()), expected));
    CHECK(same(drawn(zeros({64}, options).slice(0, 1).view({7, 9})), expected));
    CHECK(same(drawn(zeros({7, 20}, options).slice(1, 0, 18, 2)), expected));
    CHECK(same(drawn(zeros({30}, options)), expected.flatten().slice(0, 0, 30)));
  }
}

TEST_CASE("bernoulli values on a device depend only on seed and index") {
  constexpr std::int64_t n = (1 << 16) + 3;
  for (const DType dtype : {kFloat, kDouble, kBFloat16}) {
    INFO(to_string(dtype));
    const auto toss = [&](std::int64_t count, std::int64_t from) {
      manual_seed(8);
      return bernoulli(full({count + from}, 0.25, kOnCuda.dtype(dtype)).slice(0, from)).to(kDouble);
    };
    const Tensor all = toss(n, 0);
    CHECK(same(toss(101, 1), all.slice(0, 0, 101)));
    CHECK(bernoulli(zeros({9}, kOnCuda.dtype(dtype))).sum().item<double>() == 0);
    CHECK(bernoulli(ones({9}, kOnCuda.dtype(dtype))).sum().item<double>() == 9);
  }
}

TEST_CASE("randperm and multinomial without replacement contain each index once") {
  CHECK(same(std::get<0>(randperm(1000, kOnCuda).sort()), arange(1000)));
  const Tensor picked = multinomial(ones({5, 20}, kOnCuda), 20);
  CHECK(same(std::get<0>(picked.sort(1)), arange(20).expand({5, 20})));
}

// Dropout on a device: the mask is a function of the seed and the Philox offset, and the same on the host.

namespace {

constexpr std::uint64_t kSeed = 77;

/// The expected dropout of x: its elements in memory order, masked on the host.
Tensor on_host(const Tensor& x, double p, std::uint64_t draw) {
  const Tensor from = x.detach().cpu();
  const double scale = x.dtype() == kDouble ? 1 / (1 - p) : double{1 / static_cast<float>(1 - p)};
  NdArray out = NdArray::empty_strided(from.sizes(), from.strides(), from.dtype());
  kernels::dropout(Device::CPU, out, from.array(), random::Dropout(Philox{kSeed, draw}, 1 - p, scale));
  return Tensor(out);
}

}  // namespace

TEST_CASE("dropout on a device and its gradient are bitwise equal to those on the host") {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const double p : {0.1, 0.5, 0.95}) {
      const Tensor odd = randn({1030}, dtype).to(Device::CUDA),
                   image = randn({4, 6, 10}, dtype).to(Device::CUDA);
      std::vector<Tensor> inputs = {odd.slice(0, 1), odd.slice(0, 3, 1000), image, image.transpose(0, 2),
                                    randn({70000}, dtype).to(Device::CUDA)};
      for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 255, 256, 257, 511, 512, 513, 1536})
        inputs.push_back(randn({size}, dtype).to(Device::CUDA));
      for (const Tensor& input : inputs) {
        INFO(dtype << ", p = " << p << ", size " << input.numel());
        Tensor x = input.detach().requires_grad_();
        manual_seed(kSeed);
        const Tensor first = dropout(x, p, true), second = dropout(x, p, true);
        CHECK(equal(first.cpu(), on_host(x, p, 0)));
        CHECK(equal(second.cpu(), on_host(x, p, 1)));
        CHECK(first.strides() == x.strides());
        const Tensor grad = randn(x.sizes(), x.options().requires_grad(false));
        Tensor ordered = empty_strided(x.sizes(), x.strides(), grad.options());
        ordered.copy_(grad);
        second.backward(grad);
        CHECK(equal(x.grad().cpu(), on_host(ordered, p, 1)));
        Tensor changed = x.detach().clone();
        manual_seed(kSeed);
        dropout_(changed, p, true);
        CHECK(equal(changed.cpu(), on_host(x, p, 0)));
      }
    }
}

TEST_CASE("dropout on a device keeps the right fraction of elements also for strided inputs") {
  manual_seed(kSeed);
  const TensorOptions on_cuda(Device::CUDA);
  const Tensor y = dropout(ones({100000}, on_cuda), 0.3, true);
  CHECK((y > 0).sum().item<double>() / 100000 == Approx(0.7).margin(0.01));
  CHECK(y.max().item<double>() == Approx(1 / 0.7));
  const Tensor holes = arange(1, 61, on_cuda).to(kFloat).view({6, 10}).slice(1, 0, 10, 3);
  manual_seed(kSeed);
  CHECK(equal(dropout(holes, 0.5, true).cpu(), on_host(holes.contiguous(), 0.5, 0)));
  Tensor changed = ones({6, 10}, on_cuda);
  dropout_(changed.slice(1, 0, 10, 3), 0.5, true);
  CHECK(changed.slice(1, 1, 10, 3).sum().item<float>() == 18);
  CHECK(changed.slice(1, 0, 10, 3).max().item<float>() == 2);
}

TEST_CASE("second derivatives of dropout on a device are correct") {
  manual_seed(kSeed);
  Tensor x = randn({50}, TensorOptions(Device::CUDA).dtype(kDouble)).requires_grad_();
  const Tensor y = dropout(x, 0.4, true);
  CHECK(y.grad_fn()->name() == "NativeDropoutBackward0");
  const Tensor g = autograd::grad({(y * y).sum()}, {x}, {}, true, true)[0];
  const Tensor h = autograd::grad({g.sum()}, {x})[0];  // 2 m^2 for each mask value m
  const Tensor mask = on_host(ones_like(x), 0.4, 1);   // draw 0 created x
  CHECK(allclose(h.cpu(), 2 * mask * mask));
  Tensor z = randn({30}, TensorOptions(Device::CUDA)).requires_grad_();
  Tensor changed = z * 2;
  dropout_(changed, 0.4, true);
  changed.sum().backward();
  CHECK(equal(z.grad().cpu(), 2 * on_host(ones_like(z), 0.4, 3)));
}

// The states of the generators of devices.

namespace {

const auto masked = [](const Tensor& t) { return dropout(t.exp(), 0.5, true).sin(); };

}  // namespace

TEST_CASE("checkpoint draws the random numbers of a device again") {
  const auto run = [](bool checkpointed) {
    manual_seed(kSeed);
    Tensor x = ones({64}, kOnCuda).requires_grad_();
    const Tensor y = checkpointed ? autograd::checkpoint(masked, x) : masked(x);
    const Tensor after = rand({4}, kOnCuda);
    y.sum().backward();
    return std::vector<Tensor>{y, x.grad(), after, rand({4}, kOnCuda), rand({4})};
  };
  const std::vector<Tensor> expected = run(false), got = run(true);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(same(got[i], expected[i]));
}

TEST_CASE("checkpoint within a captured graph draws the numbers of each replay again") {
  const Tensor x = ones({64}, kOnCuda).requires_grad_();
  Tensor y, g, after;
  const auto step = [&](bool checkpointed) {
    const Tensor before = rand({4}, kOnCuda);
    y = checkpointed ? autograd::checkpoint(masked, x) : masked(x);
    g = autograd::grad({y.sum()}, {x})[0];
    after = rand({4}, kOnCuda) + before;
  };
  step(true);
  cuda::Graph graph;
  graph.capture([&] { step(true); });
  const std::vector<Tensor*> results = {&y, &g, &after};
  std::vector<Tensor> got;
  manual_seed(kSeed);
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    for (const Tensor* each : results) got.push_back(each->detach().cpu());
  }
  manual_seed(kSeed);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (i % results.size() == 0) step(false);
    CHECK(same(got[i], *results[i % results.size()]));
  }
}

TEST_CASE("checkpoint throws if only its first run is captured and draws random numbers") {
  const Tensor x = ones({64}, kOnCuda).requires_grad_();
  Tensor y, plain;
  cuda::Graph graph;
  graph.capture([&] {
    y = autograd::checkpoint(masked, x);
    plain = autograd::checkpoint([](const Tensor& t) { return t.exp().sin(); }, x);
  });
  graph.replay();
  CHECK_THROWS_WITH(autograd::grad({y.sum()}, {x}), Contains("only one of its two runs"));
  CHECK(allclose(autograd::grad({plain.sum()}, {x})[0], (x.exp().cos() * x.exp()).detach()));
}

TEST_CASE("the states of generators cannot be read or set while a graph is captured") {
  const Device gpu(Device::CUDA);
  const Tensor state = get_rng_state(gpu);
  cuda::Graph graph;
  graph.capture([&] {
    CHECK_THROWS_WITH(get_rng_state(gpu), Contains("a CUDA graph is being captured"));
    CHECK_THROWS_WITH(set_rng_state(state, gpu), Contains("a CUDA graph is being captured"));
  });
}

TEST_CASE("a compiled function that reads, sets or seeds a generator of a device is not replayed") {
  const Device gpu(Device::CUDA);
  Tensor state = get_rng_state(gpu);
  const std::function<void()> actions[] = {[&] { state = get_rng_state(gpu); },
                                           [&] { set_rng_state(state, gpu); }, [] { cuda::manual_seed(1); }};
  for (const auto& act : actions) {
    auto step = compile([&](const Tensor& t) {
      act();
      return rand({4}, kOnCuda) + t;
    });
    for (int i = 0; i < 6; ++i) step(ones({4}, kOnCuda));
    CHECK(step.report().replays == 0);
  }
}
