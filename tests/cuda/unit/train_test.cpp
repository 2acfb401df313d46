// Training on a device with the results of the CPU, and runs that resume bit for bit.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <filesystem>

using namespace ebb;

namespace {

nn::Sequential network() {
  manual_seed(7);
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1).bias(false)), nn::BatchNorm2d(4),
                     nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(4, 6, 3).stride(2)),
                     nn::GELU(), nn::Flatten(), nn::LayerNorm(nn::LayerNormOptions({24})), nn::Linear(24, 5));
  net->to(kDouble);
  return net;
}

template <class MakeOptimizer>
std::vector<Tensor> trained(Device device, const MakeOptimizer& make) {
  nn::Sequential net = network();
  net->to(device);
  manual_seed(8);
  const Tensor x = randn({12, 1, 12, 12}, kDouble).to(device), y = randint(5, {12}, kLong).to(device);
  const auto optimizer = make(net->parameters());
  for (int step = 0; step < 5; ++step) {
    optimizer->zero_grad();
    nn::functional::cross_entropy(net->forward(x), y).backward();
    optimizer->step();
  }
  std::vector<Tensor> out = net->parameters();
  for (const Tensor& buffer : net->buffers()) out.push_back(buffer);
  return out;
}

template <class MakeOptimizer>
void compare(const MakeOptimizer& make) {
  const std::vector<Tensor> expected = trained(Device::CPU, make), got = trained(Device::CUDA, make);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("parameter or buffer " << i);
    CHECK(got[i].is_cuda());
    CHECK(allclose(got[i].cpu(), expected[i], 1e-8, 1e-10));
  }
}

}  // namespace

TEST_CASE("training gives equal weights on CPU and CUDA") {
  SECTION("SGD") {
    compare([](const auto& p) {
      return std::make_unique<optim::SGD>(
          p, optim::SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.01));
    });
  }
  SECTION("Adam") {
    compare([](const auto& p) {
      return std::make_unique<optim::Adam>(p, optim::AdamOptions(0.01).amsgrad(true));
    });
  }
  SECTION("AdamW") {
    compare([](const auto& p) { return std::make_unique<optim::AdamW>(p, optim::AdamWOptions(0.01)); });
  }
  SECTION("RMSprop") {
    compare([](const auto& p) {
      return std::make_unique<optim::RMSprop>(p, optim::RMSpropOptions(0.01).momentum(0.5).centered(true));
    });
  }
  SECTION("Adagrad") {
    compare([](const auto& p) { return std::make_unique<optim::Adagrad>(p, optim::AdagradOptions(0.05)); });
  }
}

TEST_CASE("second derivatives on a device agree with the CPU") {
  const Tensor w = tensor({0.3, -0.2, 0.5}, kDouble);
  const auto curvature = [&](Device device) {
    Tensor x = w.to(device).requires_grad_();
    const Tensor y = (x.tanh() * x.exp()).sum();
    const Tensor g = autograd::grad({y}, {x}, {}, true, true)[0];
    return autograd::grad({g.square().sum()}, {x})[0].cpu();
  };
  CHECK(allclose(curvature(Device::CUDA), curvature(Device::CPU), 1e-12, 1e-14));
}

TEST_CASE("gradcheck checks functions that compute on a device") {
  const Tensor x = randn({4, 3}, kDouble).requires_grad_();
  const auto on_cuda = [](const variable_list& in) {
    const Tensor y = in[0].to(Device::CUDA);
    return variable_list{y.softmax(1).log().sum(0).cpu(), y.sigmoid().matmul(y.t()).cpu()};
  };
  CHECK(gradcheck(on_cuda, {x}));
  CHECK(gradgradcheck(on_cuda, {x}));
}

TEST_CASE("gradcheck accepts inputs and outputs on a device") {
  const TensorOptions options = TensorOptions(Device::CUDA).dtype(kDouble);
  const Tensor x = randn({3, 4}, options).t().requires_grad_(), w = randn({3, 2}, options).requires_grad_();
  const auto good = [](const Tensor& a, const Tensor& b) { return (a.sin() * a).matmul(b).tanh(); };
  CHECK(gradcheck(good, {x, w}));
  CHECK(gradgradcheck(good, {x, w}));
  GradcheckOptions quiet;
  quiet.fast_mode = true;
  CHECK(gradcheck(good, {x, w}, quiet));
  CHECK(gradgradcheck(good, {x, w}, {}, quiet));
  quiet.raise_exception = false;
  const auto wrong = [](const Tensor& a, const Tensor& b) { return (a.sin() * a.detach()).matmul(b); };
  CHECK_FALSE(gradcheck(wrong, {x, w}, quiet));
  quiet.fast_mode = false;
  CHECK_FALSE(gradcheck(wrong, {x, w}, quiet));
}

TEST_CASE("a module on a device can be saved and loaded") {
  const std::filesystem::path path = support::temporary("module.safetensors");
  nn::Sequential net = network(), other = network();
  net->to(Device::CUDA);
  save(net, path.string());
  for (Tensor& p : other->parameters()) {
    NoGradGuard guard;
    p.zero_();
  }
  load(other, path.string());
  for (std::size_t i = 0; i < net->parameters().size(); ++i)
    CHECK(equal(net->parameters()[i].cpu(), other->parameters()[i].cpu()));
  std::filesystem::remove(path);
}

TEST_CASE("atomic and ordered sums agree on a device") {
  const Tensor index = randint(7, {500}, TensorOptions(Device::CUDA).dtype(kLong));
  const Tensor values = randn({500, 3}, TensorOptions(Device::CUDA).dtype(kDouble));
  const auto sums = [&] {
    Tensor x = zeros({7, 3}, values.options());
    x.index_add_(0, index, values);
    x.scatter_add_(0, index.unsqueeze(1).expand({500, 3}), values);
    return x;
  };
  const Tensor by_atomics = sums();
  use_deterministic_algorithms(true);
  const Tensor in_order = sums(), again = sums();
  use_deterministic_algorithms(false);
  CHECK(allclose(by_atomics, in_order, 1e-12, 1e-12));
  CHECK(equal(in_order, again));
}

// States of device generators, and runs on a device that resume bit for bit.

TEST_CASE("a device generator resumes from its two-element state") {
  manual_seed(21);
  const TensorOptions on_device(kCUDA);
  (void)rand({10}, on_device);
  const Tensor state = get_rng_state(kCUDA);
  CHECK(state.sizes() == IntArrayRef({2}));
  CHECK(state[0].item<std::int64_t>() == 21);
  const Tensor next = rand({10}, on_device), after = randn({7}, on_device);
  manual_seed(22);
  set_rng_state(state, kCUDA);
  CHECK(rand({10}, on_device).equal(next));
  CHECK(randn({7}, on_device).equal(after));
  CHECK_THROWS_WITH(set_rng_state(zeros({3}, kLong), kCUDA),
                    support::Contains("[2]") && support::Contains("[3]"));
  CHECK_THROWS_WITH(get_rng_state(Device(kCUDA, 100)), support::Contains("no cuda:100"));
  CHECK_THROWS_WITH(set_rng_state(state, Device(kCUDA, 100)), support::Contains("no cuda:100"));
}

TEST_CASE("a checkpointed run on a device with dropout resumes bit for bit") {
  const support::Folder folder;
  const std::string path = folder / "run.ckpt";
  // Trains six steps, or the first three and saves, or the remaining three.
  const auto train = [&](std::uint64_t seed, int steps, bool save) {
    manual_seed(seed);
    nn::Sequential net(nn::Linear(6, 8), nn::Dropout(0.5), nn::Linear(8, 1));
    net->to(kCUDA);
    optim::AdamW optimizer(net->parameters(), optim::AdamWOptions(0.01));
    int step = 0;
    Checkpoint run(path);
    run.add("net", net).add("optimizer", optimizer).add("step", step);
    run.load();
    for (; step < steps; ++step) {
      optimizer.zero_grad();
      net->forward(randn({4, 6}, TensorOptions(kCUDA))).square().mean().backward();
      optimizer.step();
    }
    if (save) run.save();
    std::vector<Tensor> parameters;
    for (const Tensor& each : net->parameters()) parameters.push_back(each.detach().cpu());
    return parameters;
  };
  const std::vector<Tensor> whole = train(5, 6, false);
  train(5, 3, true);
  const std::vector<Tensor> resumed = train(6, 6, false);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(resumed[i].equal(whole[i]));
}
