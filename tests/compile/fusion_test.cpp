// Fusion on the CPU: chains of elementwise calls, reductions, matmuls and max pooling, in blocks.
#include "twins.h"

using namespace twins;

namespace {

constexpr std::int64_t kFew = 100, kMany = 50021;  // one block; several blocks with a partial last one

// Requires that compiled calls of `f` equal eager ones, on new numbers in each call.
template <class F>
CompileReport require_twin(F f, const std::function<std::vector<Tensor>()>& make, int times = 6) {
  auto compiled = compile(f);
  for (int t = 0; t < times; ++t) {
    INFO("call " << t);
    const std::vector<Tensor> numbers = make();
    require_same(f(numbers), compiled(numbers));
  }
  const CompileReport report = compiled.report();
  INFO(report.reason);
  REQUIRE(report.replayed);
  REQUIRE(report.replays >= times - 4);
  return report;
}

std::function<std::vector<Tensor>()> uniform(std::int64_t n, DType dtype, int count = 3) {
  return [=] {
    std::vector<Tensor> all;
    for (int i = 0; i < count; ++i) all.push_back((rand({n}) * 7 - 3).to(dtype));
    return all;
  };
}

// Sets the number of threads for a scope.
struct Threads {
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  int before = get_num_threads();
};

}  // namespace

TEST_CASE("a chain of elementwise calls is replayed in blocks and bitwise equal to eager calls") {
  const std::int64_t n = GENERATE(as<std::int64_t>{}, 1, kFew, kMany);
  const DType dtype = GENERATE(kFloat, kDouble, kHalf, kBFloat16, kInt);
  const Threads threads(GENERATE(1, 3));
  INFO(n << " of " << dtype << " on " << get_num_threads() << " threads");
  const CompileReport report = require_twin(
      [](const std::vector<Tensor>& x) {
        const Tensor y = (x[0] * x[1] + x[2]).abs() - x[0] * 2;
        const Tensor chosen = where(y > x[1], y, x[2]);
        return std::vector<Tensor>{chosen * y + 1, y.clamp(-2, 2), y == x[2]};
      },
      uniform(n, dtype));
  REQUIRE(report.fused == report.operations);
  // Intermediate results of the chain need only a block of memory.
  if (n == kMany) REQUIRE(report.arena_bytes < 4 * kMany * static_cast<std::int64_t>(element_size(dtype)));
}

TEST_CASE(
    "replayed chains of unary functions and of their two derivatives are bitwise equal to eager calls") {
  const std::int64_t n = GENERATE(as<std::int64_t>{}, kFew, kMany);
  const Threads threads(GENERATE(1, 2));
  require_twin(
      [](const std::vector<Tensor>& numbers) {
        const Tensor x = numbers[0].detach().requires_grad_();
        const Tensor y = (tanh(x * numbers[1]) * exp(-x * x) + sigmoid(x)).sum();
        const Tensor g = autograd::grad({y}, {x}, {}, true, true)[0];
        const Tensor h = autograd::grad({(g * numbers[2]).sum()}, {x})[0];
        return std::vector<Tensor>{y.detach(), g.detach(), h};
      },
      uniform(n, kFloat));
}

TEST_CASE("sums over all elements are fused into the chain and bitwise equal to eager sums") {
  const std::int64_t n =
      GENERATE(as<std::int64_t>{}, 1, kFew, 4096, kMany, 65537, 200001);  // from one block to several pieces
  const DType dtype = GENERATE(kFloat, kDouble, kHalf, kLong);
  const Threads threads(GENERATE(1, 3));
  INFO(n << " of " << dtype);
  const CompileReport report = require_twin(
      [](const std::vector<Tensor>& x) {
        const Tensor y = x[0] * x[1] + x[2], total = y.sum();
        const Tensor z = x[0] - x[1] * 2, other = z.sum();
        const Tensor w = total + z;  // this addition needs the complete sum
        return std::vector<Tensor>{total, other, w.sum()};
      },
      uniform(n, dtype));
  if (n == 200001 && dtype == kFloat) REQUIRE(report.arena_bytes < 3 * n * 4 / 2);
}

TEST_CASE("a fused sum reads the elements before a later in-place write") {
  const CompileReport report = require_twin(
      [](const std::vector<Tensor>& x) {
        Tensor y = x[0] * x[1];
        const Tensor before = y.sum();
        y.mul_(2).sub_(x[1]);
        return std::vector<Tensor>{before, y.sum(), y};
      },
      uniform(kMany, kFloat));
  CHECK(report.fused == report.operations);
}

TEST_CASE("a replayed mean and its gradient are bitwise equal to eager ones") {
  const std::int64_t n = GENERATE(as<std::int64_t>{}, kFew, 200001);
  require_twin(
      [](const std::vector<Tensor>& numbers) {
        const Tensor x = numbers[0].detach().requires_grad_();
        const Tensor loss = (x * numbers[1] - numbers[2]).square().mean();
        return std::vector<Tensor>{loss.detach(), autograd::grad({loss}, {x})[0]};
      },
      uniform(n, kFloat));
}

TEST_CASE("a chain takes broadcast scalars from constants, elements, expanded and 0-dimensional tensors") {
  const std::int64_t n = GENERATE(as<std::int64_t>{}, 1, kFew, kMany);
  require_twin(
      [](const std::vector<Tensor>& x) {
        const Tensor number = x[1][0], all = x[2][0].expand(x[0].sizes());
        const Tensor y = (x[0] * number + all) * 1.5 - number;
        return std::vector<Tensor>{where(y > 0, y, 0.25), lerp(y, x[1], 0.3), addcmul(y, all, x[2], 0.5)};
      },
      uniform(n, GENERATE(kFloat, kHalf)));
}

TEST_CASE("calls that access each other's elements at different positions are not fused") {
  const std::int64_t half = kMany / 2;
  const auto make = [&] { return uniform(2 * half, kFloat, 1)(); };
  SECTION("overlapping slices of one tensor") {
    require_twin(
        [=](const std::vector<Tensor>& x) {
          const Tensor whole = x[0] * 1, first = whole.narrow(0, 0, half),
                       second = whole.narrow(0, half, half);
          const Tensor shifted = whole.narrow(0, 7, half);
          first.add_(second);
          const Tensor y = shifted * 2 + first;
          second.mul_(3);
          return std::vector<Tensor>{y, whole * 1, shifted - first};
        },
        make);
  }
  SECTION("a scalar operand is an element that another call writes") {
    require_twin(
        [=](const std::vector<Tensor>& x) {
          const Tensor y = x[0] + 1, last = y[2 * half - 1];
          const Tensor z = y * last;
          y.mul_(2);
          return std::vector<Tensor>{z, y * last, y - last};
        },
        make);
  }
  SECTION("results whose live ranges overlap those of their operands") {
    require_twin(
        [=](const std::vector<Tensor>& x) {
          const Tensor before = x[0].softmax(0), doubled = before * 2, sum = before + doubled;
          return std::vector<Tensor>{doubled.softmax(0), sum.softmax(0)};
        },
        make);
  }
  SECTION("a matrix and its transpose") {
    require_twin(
        [=](const std::vector<Tensor>& x) {
          const Tensor matrix = x[0].narrow(0, 0, 40000).view({200, 200}).softmax(1);
          return std::vector<Tensor>{(matrix + matrix.t()).softmax(1)};
        },
        make);
  }
  SECTION("a tensor and its reversed copy") {
    require_twin(
        [=](const std::vector<Tensor>& x) {
          const Tensor y = x[0] + 1;
          y.copy_((y.flip(0) * 2 - y).relu());
          return std::vector<Tensor>{y + x[0]};
        },
        make);
  }
}

TEST_CASE("a fused chain writes the same bits to arguments and captured tensors as eager calls") {
  const Tensor kept = rand({kMany}), twin = kept.clone();
  const auto body = [](const Tensor& state, const Tensor& x) {
    x.mul_(2).add_(state);
    state.mul_(0.5).add_(x, 0.25);
    return (x - state).relu() * state;
  };
  auto step = compile([&](const Tensor& x) { return body(kept, x); });
  for (int t = 0; t < 6; ++t) {
    const Tensor x = rand({kMany}), other = x.clone();
    require_same({step(x), x, kept}, {body(twin, other), other, twin});
  }
  require_replays(step, 2);
}

TEST_CASE("a call whose arguments overlap gives the results of an eager call") {
  std::vector<float> numbers(2 * kMany), others(2 * kMany);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = others[i] = static_cast<float>(i % 97) / 97;
  const auto body = [](const Tensor& x, const Tensor& y) {
    x.mul_(1.25).add_(0.5);
    return y * 2 + 1;
  };
  auto step = compile(body);
  const Warnings warnings;
  for (int t = 0; t < 4; ++t) {
    const Tensor x = rand({kMany}), y = rand({kMany}), again = x.clone();
    require_same({step(x, y), x}, {body(again, y), again});
  }
  require_replays(step, 1);
  const auto view = [](std::vector<float>& memory, std::int64_t from) {
    return from_blob(memory.data() + from, {kMany}, kFloat);
  };
  for (int t = 0; t < 3; ++t)
    require_same({step(view(numbers, 5), view(numbers, 0)), view(numbers, 0)},
                 {body(view(others, 5), view(others, 0)), view(others, 0)});
}

TEST_CASE(
    "a matmul is not fused with a later in-place addition if other calls access the target in between") {
  const Tensor sum = rand({20, 30}), twin = sum.clone();
  const auto body = [](const Tensor& to, const Tensor& a, const Tensor& b) {
    const Tensor product = mm(a, b), before = to * 1;
    to.mul_(0.5);
    to.add_(product);
    const Tensor second = mm(a, b);
    to.add_(second);
    return before + to;
  };
  auto step = compile([&](const Tensor& a, const Tensor& b) { return body(sum, a, b); });
  for (int t = 0; t < 5; ++t) {
    const Tensor a = randn({20, 7}), b = randn({7, 30});
    require_same({step(a, b), sum}, {body(twin, a, b), twin});
  }
  require_replays(step, 2);
}

TEST_CASE("a matmul is not fused with an in-place addition to its operand or to a tensor created after it") {
  const std::int64_t n = 40;
  const auto body = [](const Tensor& to, const Tensor& b) {
    const Tensor product = mm(to, b);
    const Tensor later = full({n, n}, 0.25);  // it is filled after the product
    later.add_(product);
    to.add_(mm(to, b));
    const Tensor right = b * 0.5;
    right.add_(mm(to, right));
    return std::vector<Tensor>{later, right};
  };
  const Tensor sum = rand({n, n}), twin = sum.clone();
  auto step = compile([&](const Tensor& b) { return body(sum, b); });
  for (int t = 0; t < 6; ++t) {
    const Tensor b = randn({n, n}) * 0.1;
    std::vector<Tensor> got = step(b), expected = body(twin, b);
    got.push_back(sum);
    expected.push_back(twin);
    require_same(got, expected);
  }
  require_replays(step, 2);
}

TEST_CASE("a call does not overwrite an operand of a matmul whose result is computed in blocks") {
  const std::int64_t n = GENERATE(256, 300);
  const Threads threads(GENERATE(1, 2));
  const auto body = [](const Tensor& a, const Tensor& b) {
    const Tensor first = mm(a, b).relu();
    b.add_(first);
    const Tensor second = mm(a, b).tanh();
    a.mul_(0.5).add_(second);
    return first + second;
  };
  const Tensor b = rand({n, n}) * 0.01, twin = b.clone();
  auto step = compile([&](const Tensor& a) { return body(a, b); });
  for (int t = 0; t < 6; ++t) {
    const Tensor a = randn({n, n}) * 0.1, again = a.clone();
    require_same({step(a), a, b}, {body(again, twin), again, twin});
  }
  require_replays(step, 2);
}

TEST_CASE("a chain that reads scalars of other dtypes gives the results of eager calls") {
  for (const DType dtype : {kDouble, kHalf, kInt, kLong}) {
    INFO(dtype);
    const Tensor number = tensor(1.5, kDouble).to(dtype), other = tensor(2.25, kDouble).to(dtype);
    const CompileReport report = require_twin(
        [&](const std::vector<Tensor>& x) {
          number.add_(other).sub_(other);  // a write, so that the scalar is not a constant
          return std::vector<Tensor>{(x[0] * number + 1).relu() - other,
                                     where(x[1] > number, x[1], x[2] * 2)};
        },
        uniform(kMany, kFloat));
    REQUIRE(report.replayed);
  }
}

TEST_CASE("replayed matmuls that accumulate into gradients are bitwise equal to eager ones") {
  // Batches of 128 rows or more are summed in several parts.
  const std::int64_t batch = GENERATE(1, 2, 64, 300, 1030);
  const std::int64_t features = GENERATE(1, 5, 40);
  const DType dtype = GENERATE(kFloat, kDouble, kHalf);
  const Threads threads(GENERATE(1, 2));
  INFO("batch " << batch << ", features " << features << ", " << dtype);
  manual_seed(5);
  nn::Sequential net(nn::Linear(17, features), nn::ReLU(), nn::Linear(features, 3));
  net->to(dtype);
  const std::vector<Tensor> parameters = net->parameters();
  for (const Tensor& p : parameters) p.mutable_grad() = zeros_like(p);
  const auto body = [&](const Tensor& x) {
    for (const Tensor& p : parameters) p.grad().mul_(0.5);
    const Tensor loss = net(x).square().sum();
    loss.backward();
    return loss;
  };
  std::vector<Tensor> expected, got;
  std::vector<Tensor> xs;
  for (int t = 0; t < 6; ++t) xs.push_back(randn({batch, 17}).to(dtype));
  for (const bool compiled : {false, true}) {
    for (const Tensor& p : parameters) p.grad().zero_();
    auto step = compile(body);
    std::vector<Tensor>& results = compiled ? got : expected;
    for (const Tensor& x : xs) {
      results.push_back((compiled ? step(x) : body(x)).detach());
      for (const Tensor& p : parameters) results.push_back(p.grad().clone());
    }
    if (compiled) require_replays(step, 2);
  }
  require_same(expected, got);
}

TEST_CASE(
    "a matmul before an activation's gradient runs in blocks of rows, with less memory and bitwise equal "
    "results") {
  const std::int64_t batch = GENERATE(256, 300, 641), width = 64;
  const Threads threads(1);
  const auto training = [&] {
    manual_seed(11);
    return Training(
        nn::Sequential(nn::Linear(20, width), nn::ReLU(), nn::Linear(width, width), nn::ReLU(),
                       nn::Linear(width, 4)),
        [](const std::vector<Tensor>& p) { return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1)); });
  };
  Training eager = training(), compiled = training();
  auto step = compile([&](const Tensor& x, const Tensor& y) { return compiled.step(x, y); });
  for (int t = 0; t < 7; ++t) {
    const Tensor x = randn({batch, 20}), y = randint(4, {batch}, kLong);
    REQUIRE(same_bits(step(x, y), eager.step(x, y).detach()));
    require_same(compiled.state(), eager.state());
    if (t == 4) set_num_threads(3);
  }
  require_replays(step, 2);
  // The arena holds results of two layers, a gradient, a block and small buffers, but not the gradient before
  // the activation.
  const auto layer = batch * width * 4;
  REQUIRE(step.report().arena_bytes < 3 * layer + 160 * width * 4 + (16 << 10));
}

TEST_CASE(
    "the gradient of max pooling is computed plane by plane, with less memory and bitwise equal results") {
  const int stride = GENERATE(2, 1);
  const DType dtype = GENERATE(kFloat, kDouble, kBFloat16);
  const Threads threads(GENERATE(1, 2));
  constexpr std::int64_t kBatch = 24, kChannels = 12;
  INFO("stride " << stride << ", " << dtype << ", " << get_num_threads() << " threads");
  const auto training = [&] {
    manual_seed(3);
    const std::int64_t side = stride == 2 ? 12 : 24;
    nn::Sequential net(
        nn::Conv2d(2, kChannels, 3), nn::ReLU(),
        nn::MaxPool2d(nn::MaxPool2dOptions(stride == 2 ? 2 : 3).stride(stride).padding(stride == 1)),
        nn::Flatten(), nn::Linear(kChannels * side * side, 3));
    net->to(dtype);
    return Training(net, [](const std::vector<Tensor>& p) {
      return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1));
    });
  };
  Training eager = training(), compiled = training();
  auto step = compile([&](const Tensor& x, const Tensor& y) { return compiled.step(x, y); });
  for (int t = 0; t < 6; ++t) {
    const Tensor x = randn({kBatch, 2, 26, 26}).to(dtype), y = randint(3, {kBatch}, kLong);
    REQUIRE(same_bits(step(x, y), eager.step(x, y).detach()));
    require_same(compiled.state(), eager.state());
  }
  require_replays(step, 2);
  // The arena holds the activation, whose gradient reuses its memory, and the indices, values and gradients
  // of the pooled elements.
  const std::int64_t size = element_size(dtype), layer = kBatch * kChannels * 24 * 24 * size;
  const std::int64_t pooled = layer / size / (stride * stride) * (8 + 2 * size);
  // Convolutions of 16-bit types need additional copies.
  if (size > 2) REQUIRE(step.report().arena_bytes < layer + pooled);
}

TEST_CASE("rows that follow a sum within a block keep the elements that it reads") {
  const std::int64_t n = GENERATE(kFew, kMany);
  const Threads threads(GENERATE(1, 3));
  require_twin(
      [](const std::vector<Tensor>& x) {
        const Tensor y = x[0].cumsum(0), half = y * 0.5, total = y.sum(), z = half + y;
        const Tensor mean = (z * x[1]).mean(), last = z.cumsum(0) + total;
        return std::vector<Tensor>{total, mean, last, (last * 2).sum() + mean};
      },
      uniform(n, kFloat));
}

TEST_CASE("a step whose loss, gradients and zeroed sums are one chain is bitwise equal to an eager step") {
  const std::int64_t n = GENERATE(kFew, kMany);
  std::vector<Tensor> states[2];
  CompileReport report;
  for (const bool compiled : {false, true}) {
    manual_seed(5);
    const Tensor x = randn({n}), scale = rand({n}).requires_grad_(), shift = rand({n}).requires_grad_();
    x.slice(0, 0, n, 3).fill_(-0.0);  // the gradient of `scale` is then a sum of 0 and -0
    optim::SGD optimizer({scale, shift}, optim::SGDOptions(0.1));
    const auto body = [&] {
      optimizer.zero_grad();
      const Tensor h = tanh(x * scale + shift), loss = ((h * 0.5 + 0.1) * h + x * scale).mean();
      loss.backward();
      optimizer.step();
      return loss.detach();
    };
    auto step = compile(body);
    for (int t = 0; t < 6; ++t) {
      states[compiled].push_back(compiled ? step() : body());
      for (const Tensor& p : {scale, shift})
        states[compiled].insert(states[compiled].end(), {p.detach().clone(), p.grad().clone()});
    }
    report = step.report();
  }
  require_same(states[0], states[1]);
  REQUIRE(report.replays >= 2);
  // No intermediate result is in memory, only blocks of 4096 elements.
  if (n == kMany) REQUIRE(report.arena_bytes < 3 * n * 4);
}

namespace {

/// A block of GPT-2.
struct BlockImpl : nn::Module {
  static constexpr std::int64_t kWidth = 64, kHeads = 4;
  BlockImpl() {
    for (int i = 0; i < 2; ++i)
      norms.push_back(
          register_module("norm" + std::to_string(i), nn::LayerNorm(nn::LayerNormOptions({kWidth}))));
    const std::pair<std::int64_t, std::int64_t> sizes[] = {{1, 3}, {1, 1}, {1, 4}, {4, 1}};
    for (const auto& [in, out] : sizes)
      layers.push_back(
          register_module("layer" + std::to_string(layers.size()), nn::Linear(in * kWidth, out * kWidth)));
  }
  Tensor forward(const Tensor& x) {
    const std::int64_t batch = x.size(0), steps = x.size(1);
    std::vector<Tensor> parts = layers[0](norms[0](x)).chunk(3, -1);
    for (Tensor& part : parts) part = part.view({batch, steps, kHeads, -1}).transpose(1, 2);
    const Tensor mixed = scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
    const Tensor y = x + layers[1](mixed.transpose(1, 2).reshape(x.sizes()));
    return y + layers[3](gelu(layers[2](norms[1](y))));
  }
  std::vector<nn::LayerNorm> norms;
  std::vector<nn::Linear> layers;
};
EBB_MODULE(Block);

nn::Sequential network(int which) {
  manual_seed(9);
  if (which == 0)
    return nn::Sequential(nn::Linear(64, 256), nn::ReLU(), nn::Linear(256, 128), nn::ReLU(),
                          nn::Linear(128, 10));
  if (which == 1)
    return nn::Sequential(nn::Conv2d(1, 32, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(32, 64, 3),
                          nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(1600, 10));
  return nn::Sequential(nn::Embedding(50, BlockImpl::kWidth), Block(), Block(),
                        nn::Linear(BlockImpl::kWidth, 50),
                        nn::Flatten(nn::FlattenOptions().start_dim(0).end_dim(1)));
}

}  // namespace

TEST_CASE("a replayed step of an MLP, a CNN and a GPT needs at most 60 % of the memory of an eager step") {
  const int which = GENERATE(0, 1, 2);
  const Threads threads(1);
  const auto sgd = [](const std::vector<Tensor>& p) {
    return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1));
  };
  Training eager(network(which), sgd), compiled(network(which), sgd);
  auto step = compile([&](const Tensor& x, const Tensor& y) { return compiled.step(x, y); });
  std::int64_t peak = 0;
  for (int t = 0; t < 6; ++t) {
    const Tensor x = which == 0   ? randn({512, 64})
                     : which == 1 ? randn({16, 1, 28, 28})
                                  : randint(50, {8, 64}, kLong);
    const Tensor y = randint(10, {which == 1 ? 16 : 512}, kLong);
    const std::size_t before = memory_stats().current;
    reset_peak();
    const Tensor expected = eager.step(x, y).detach();
    peak = static_cast<std::int64_t>(memory_stats().peak - before);
    REQUIRE(same_bits(step(x, y), expected));
    require_same(compiled.state(), eager.state());
  }
  require_replays(step, 2);
  CAPTURE(which, peak, step.report().arena_bytes, step.report().result_bytes);
  REQUIRE(step.report().arena_bytes + step.report().result_bytes <= peak * 6 / 10);
}
