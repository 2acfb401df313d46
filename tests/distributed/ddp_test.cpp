// DistributedDataParallel: averages, buckets, and the parts of ebb that it works with.
#include "ddp.h"

#include <ebb/data/distributed_samplers.h>

#include "support/files.h"

#include <chrono>
#include <thread>

using namespace ddp;

TEST_CASE("averaged gradients equal those of one process on 1 to 4 ranks") {
  for (const int count : {1, 2, 3, 4}) expect_success("[.ddp]", count);
}

TEST_CASE("averaged gradients agree in debug mode") {
  expect_success("[.ddp]", 2, "EBB_DISTRIBUTED_DEBUG=1");
}

TEST_CASE("training steps equal those of one process for all sizes of buckets", "[.ddp]") {
  ranks::join();
  for (const double cap : {1e-5, 1e-4, 25.}) {
    ebb::nn::Sequential net = new_net();
    DistributedDataParallel parallel(net, DistributedDataParallelOptions().bucket_cap_mb(cap));
    check_equal_on_ranks(net->parameters());
    ebb::optim::SGD optimizer(parallel->parameters(), ebb::optim::SGDOptions(0.1).momentum(0.9));
    for (int step = 0; step < 4; ++step) {
      const auto expected = expected_gradients(
          net, [&](auto& copy, int r) { return copy.forward(input_of(r, step)).square().mean(); });
      optimizer.zero_grad(/*set_to_none=*/step % 2 == 0);
      parallel(input_of(rank(), step)).square().mean().backward();
      check_gradients(*net, expected);
      optimizer.step();
      check_equal_on_ranks(net->parameters());
    }
  }
}

TEST_CASE("gradients are views of one memory with the strides of their parameters", "[.ddp]") {
  ranks::join();
  ebb::nn::Sequential net(ebb::nn::Conv2d(3, 4, 3), ebb::nn::Conv2d(4, 2, 1));
  net->to(ebb::MemoryFormat::ChannelsLast);
  DistributedDataParallel parallel(net);
  Tensor x = ebb::rand({1, 3, 5, 5});
  parallel(x).sum().backward();
  const std::vector<Tensor> p = net->parameters();
  const std::vector<Tensor> first = {p[0].grad(), p[2].grad()};
  CHECK(first[0].is_alias_of(first[1]));
  for (const Tensor& each : p) CHECK(each.grad().strides() == each.strides());
  net->zero_grad();
  parallel(x).sum().backward();
  CHECK(p[0].grad().is_same(first[0]));  // the buckets are rebuilt once, at the end of the first pass
  net->zero_grad(/*set_to_none=*/true);
  CHECK_FALSE(p[0].grad().defined());
  parallel(x).sum().backward();
  CHECK(p[0].grad().is_same(first[0]));
}

TEST_CASE("a bucket is reduced while backward goes on", "[.ddp]") {
  ranks::join();
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net, DistributedDataParallelOptions().bucket_cap_mb(1e-5));
  const auto expected =
      expected_gradients(net, [&](auto& copy, int r) { return copy.forward(input_of(r)).square().sum(); });
  const std::vector<Tensor> p = net->parameters();
  bool early = false;
  Tensor mine = ebb::zeros_like(p[2]);
  p[0].register_hook([&](const Tensor&) {  // the last gradient of backward
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!early && std::chrono::steady_clock::now() < limit) {
      early = ebb::allclose(p[2].grad(), expected[2]);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  parallel(input_of(rank())).square().sum().backward();
  CHECK(early);
  check_gradients(*net, expected);
}

TEST_CASE("parameters of several dtypes get buckets of their own", "[.ddp]") {
  ranks::join();
  ebb::nn::Sequential net(ebb::nn::Linear(6, 4), ebb::nn::Linear(6, 4), ebb::nn::Linear(6, 4));
  net[0]->to(ebb::kDouble);
  net[1]->to(ebb::kBFloat16);
  net[2]->to(ebb::kHalf);
  struct Mixed : ebb::nn::Module {
    explicit Mixed(ebb::nn::Sequential net) : parts(register_module("parts", net)) {}
    Tensor forward(const Tensor& x) {
      Tensor sum;
      for (int i = 0; i < 3; ++i) {
        auto& linear = parts->at<ebb::nn::LinearImpl>(i);
        const Tensor y = linear.forward(x.to(linear.weight.dtype())).sum().to(ebb::kDouble);
        sum = sum.defined() ? sum + y : y;
      }
      return sum;
    }
    ebb::nn::Sequential parts;
  };
  DistributedDataParallel parallel(std::make_shared<Mixed>(net));
  const Tensor x = ebb::full({2, 6}, rank() + 1., ebb::kDouble);
  parallel(x).backward();
  const double mean = (world_size() + 1) / 2.;
  for (const auto& item : net->named_parameters())
    CHECK(ebb::allclose(
        item.value().grad().to(ebb::kDouble),
        ebb::full(item.value().sizes(), item.key().ends_with("bias") ? 2. : 2 * mean, ebb::kDouble), 1e-2));
}

TEST_CASE("the average of large gradients in Half does not overflow", "[.ddp]") {
  ranks::join();
  ebb::nn::Linear net(1, 1);
  net->to(ebb::kHalf);
  DistributedDataParallel parallel(net);
  parallel(ebb::full({1, 1}, 40000, ebb::kHalf)).sum().backward();
  CHECK(net->weight.grad().item<double>() == Approx(40000).epsilon(0.01));
}

TEST_CASE("gradients may be sent in BFloat16", "[.ddp]") {
  ranks::join();
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net, DistributedDataParallelOptions().reduce_dtype(ebb::kBFloat16));
  const auto expected =
      expected_gradients(net, [&](auto& copy, int r) { return copy.forward(input_of(r)).square().sum(); });
  parallel(input_of(rank())).square().sum().backward();
  const Tensor grad = net->parameters()[0].grad();
  CHECK(grad.dtype() == ebb::kDouble);
  CHECK(ebb::equal(grad, grad.to(ebb::kBFloat16).to(ebb::kDouble)));
  CHECK(ebb::allclose(grad, expected[0], 0.03, 0.03));
}

TEST_CASE("buffers of rank 0 arrive on all ranks", "[.ddp]") {
  ranks::join();
  ebb::nn::Sequential net(ebb::nn::Linear(6, 5), ebb::nn::BatchNorm1d(5));
  net->to(ebb::kDouble);
  DistributedDataParallel parallel(net);
  parallel(input_of(rank())).square().sum().backward();
  check_equal_on_ranks(net->buffers());
  const Tensor own = net->buffers()[0].clone();
  DistributedDataParallel apart(net, DistributedDataParallelOptions().broadcast_buffers(false));
  apart(input_of(rank(), 1)).square().sum().backward();
  Tensor first = net->buffers()[0].clone();
  CHECK_FALSE(ebb::equal(first, own));
  broadcast(first, 0);
  CHECK(ebb::equal(first, net->buffers()[0]) == (rank() == 0));
}

TEST_CASE("the state has the names of the net and loads with and without the prefix module", "[.ddp]") {
  ranks::join();
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net);
  CHECK(parallel->state_dict().keys() == net->state_dict().keys());
  const Tensor saved = net->parameters()[0].clone();
  ebb::nn::Module::StateDict plain, prefixed;
  for (const auto& item : net->state_dict()) {
    plain.insert(item.key(), item.value().clone());
    prefixed.insert("module." + item.key(), item.value().clone());
  }
  for (const auto& state : {plain, prefixed}) {
    {
      const ebb::NoGradGuard no_grad;
      net->parameters()[0].zero_();
    }
    parallel->load_state_dict(state);
    CHECK(ebb::equal(net->parameters()[0], saved));
  }
  plain.erase("0.weight");
  CHECK_THROWS_AS(parallel->load_state_dict(plain), ebb::Error);
}

TEST_CASE("rank 0 writes a checkpoint that all ranks read", "[.ddp]") {
  ranks::join();
  std::string path = rank() == 0 ? support::temporary("ddp.ckpt") : "";
  broadcast_object(path, 0);
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net);
  ebb::optim::Adam optimizer(parallel->parameters(), ebb::optim::AdamOptions(0.01));
  const auto step = [&](int number) {
    optimizer.zero_grad();
    parallel(input_of(rank(), number)).square().mean().backward();
    optimizer.step();
  };
  ebb::Checkpoint run(path);
  run.add("model", parallel).add("optimizer", optimizer);
  step(0);
  if (rank() == 0) run.save();
  barrier();
  step(1);
  const Tensor after = net->parameters()[0].clone();
  CHECK(run.load());
  step(1);
  CHECK(ebb::equal(net->parameters()[0], after));
  ebb::nn::Sequential alone = new_net();  // the file fits the net without the wrapper, too
  ebb::optim::Adam other(alone->parameters(), ebb::optim::AdamOptions(0.01));
  CHECK(ebb::Checkpoint(path).add("model", alone).add("optimizer", other).load());
  barrier();
}

TEST_CASE("scaled and clipped gradients and averaged weights stay equal on all ranks", "[.ddp]") {
  ranks::join();
  ebb::nn::Sequential net = new_net();
  net->to(ebb::kFloat);
  DistributedDataParallel parallel(net);
  ebb::optim::swa_utils::AveragedModel average(parallel->module);
  ebb::optim::SGD optimizer(parallel->parameters(), ebb::optim::SGDOptions(0.1));
  ebb::amp::GradScaler scaler(ebb::kCPU);
  for (int step = 0; step < 3; ++step) {
    const Tensor before = net->parameters()[0].detach().clone();
    optimizer.zero_grad();
    Tensor loss = parallel(input_of(rank(), step).to(ebb::kFloat)).square().mean();
    if (step == 1 && rank() == world_size() - 1) loss = loss * std::numeric_limits<double>::infinity();
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    const double norm = ebb::nn::utils::clip_grad_norm_(parallel->parameters(), 0.01);
    CHECK(std::isfinite(norm) == (step != 1));
    scaler.step(optimizer);
    scaler.update();
    // All ranks skip the step in which one rank has an infinite gradient.
    CHECK(ebb::equal(before, net->parameters()[0]) == (step == 1));
    average.update_parameters(*parallel->module);
    check_equal_on_ranks(net->parameters());
    check_equal_on_ranks(average.parameters());
  }
}

TEST_CASE("an epoch over a distributed sampler equals the epoch of one process", "[.ddp]") {
  ranks::join();
  const Tensor data = input_of(0, 0, {24, 6});
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net);
  ebb::data::samplers::DistributedRandomSampler sampler(24, world_size(), rank());
  sampler.set_epoch(3);
  sampler.reset();
  const auto expected = expected_gradients(
      net, [&](auto& copy, int) { return copy.forward(data).square().mean(); });  // once for each rank
  std::vector<std::int64_t> own;
  while (const auto batch = sampler.next(4)) own.insert(own.end(), batch->begin(), batch->end());
  parallel(data.index_select(0, ebb::tensor(own))).square().mean().backward();
  check_gradients(*net, expected);
}

TEST_CASE("a compiled step runs eagerly and averages in every call", "[.ddp]") {
  ranks::join();
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net);
  auto step = ebb::compile([&](Tensor x) {
    parallel->zero_grad();
    Tensor loss = parallel(x).square().mean();
    loss.backward();
    return loss;
  });
  for (int i = 0; i < 5; ++i) {
    const auto expected = expected_gradients(
        net, [&](auto& copy, int r) { return copy.forward(input_of(r, i)).square().mean(); });
    step(input_of(rank(), i));
    check_gradients(*net, expected);
  }
  CHECK_THAT(step.report().reason, support::Contains("DistributedDataParallel"));
}
