// DistributedDataParallel where torch's is known to go wrong: it is right, or it refuses.
#include "ddp.h"

using namespace ddp;

TEST_CASE("known errors of data parallel training do not occur on 1 to 4 ranks") {
  for (const int count : {1, 2, 4}) expect_success("[.ddp-edges]", count);
}

TEST_CASE("a parameter that only an earlier batch without reduction used is reduced", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const std::vector<int> first = {0, 1}, second = {2, 3};
  const auto expected = expected_gradients(net, [&](auto& copy, int r) {
    return copy.forward(input_of(r, 0), first).square().sum() +
           copy.forward(input_of(r, 1), second).square().sum();
  });
  for (int pass = 0; pass < 3; ++pass) {  // also after the buckets were rebuilt, and when gradients are views
    net->zero_grad(/*set_to_none=*/pass == 1);
    {
      const auto guard = parallel->no_sync();
      parallel(input_of(rank(), 0), first).square().sum().backward();
    }
    parallel(input_of(rank(), 1), second).square().sum().backward();
    check_gradients(*net, expected);
  }
}

TEST_CASE("without reduction gradients are those of the rank alone", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  if (rank() == 0) {  // no other rank takes part
    const auto guard = parallel->no_sync();
    parallel(input_of(9)).sum().backward();
    net->forward(input_of(9)).sum().backward();
    const Tensor twice = net->parameters()[0].grad().clone();
    net->zero_grad();
    parallel->module->forward(input_of(9)).sum().backward();
    CHECK(ebb::allclose(twice, 2 * net->parameters()[0].grad()));
  }
  barrier();
}

TEST_CASE("a parameter that no rank used stays undefined and one that a rank used is reduced",
          "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const auto used = [](int r) { return r == 0 ? std::vector<int>{0, 2} : std::vector<int>{2}; };
  const auto expected = expected_gradients(
      net, [&](auto& copy, int r) { return copy.forward(input_of(r), used(r)).square().sum(); });
  CHECK(expected[0].defined());
  CHECK_FALSE(expected[2].defined());
  for (int pass = 0; pass < 3; ++pass) {
    net->zero_grad(/*set_to_none=*/true);
    parallel(input_of(rank()), used(rank())).square().sum().backward();
    check_gradients(*net, expected);
  }
  // A defined gradient that no rank adds to stays as it is.
  Tensor kept = net->parameters()[0].grad().clone();
  parallel(input_of(rank()), std::vector<int>{3}).sum().backward();
  CHECK(ebb::allclose(net->parameters()[0].grad(), kept));
}

TEST_CASE("a gradient that was cleared after a batch without reduction is not used", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  if (rank() == 0) {
    const auto guard = parallel->no_sync();
    parallel(input_of(rank()), std::vector<int>{0}).sum().backward();
  }
  net->zero_grad(/*set_to_none=*/true);
  parallel(input_of(rank()), std::vector<int>{2}).sum().backward();
  CHECK_FALSE(net->layers[0]->weight.grad().defined());
  CHECK(net->layers[2]->weight.grad().defined());
}

TEST_CASE("a gradient without reduction is kept when other parameters are frozen", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  if (rank() == 0) {
    const auto guard = parallel->no_sync();
    parallel(input_of(rank()), std::vector<int>{0}).sum().backward();
  }
  net->layers[1]->weight.requires_grad_(false);
  parallel(input_of(rank()), std::vector<int>{2}).sum().backward();
  REQUIRE(net->layers[0]->weight.grad().defined());
  check_equal_on_ranks({net->layers[0]->weight.grad()});
}

TEST_CASE("a rank whose loss uses no parameter takes part in the reduction", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const auto used = [](int r) { return r == 0 ? std::vector<int>{1} : std::vector<int>{}; };
  const Tensor weight = ebb::ones({}, ebb::kDouble).requires_grad_();
  parallel(input_of(rank()) * weight, used(rank())).sum().backward();
  CHECK(net->parameters()[2].grad().defined());
  CHECK_FALSE(net->parameters()[0].grad().defined());
  check_equal_on_ranks({net->parameters()[2].grad()});
}

TEST_CASE("parameters that modules share are reduced once", "[.ddp-edges]") {
  ranks::join();
  struct Tied : ebb::nn::Module {
    Tied() {
      ebb::manual_seed(3 + rank());
      encode = register_module("encode", ebb::nn::Linear(6, 6));
      decode = register_module("decode", ebb::nn::Linear(6, 6));
      to(ebb::kDouble);
      decode->weight = decode->replace_parameter("weight", encode->weight);
    }
    Tensor forward(const Tensor& x) { return decode(encode(x).tanh()); }
    ebb::nn::Linear encode{nullptr}, decode{nullptr};
  };
  auto net = std::make_shared<Tied>();
  DistributedDataParallel parallel(net, small());
  std::vector<Tensor> sums;
  for (int r = 0; r < world_size(); ++r) (net->forward(input_of(r)).square().sum() / world_size()).backward();
  for (const Tensor& p : net->parameters()) sums.push_back(p.grad().clone());
  net->zero_grad(true);
  parallel(input_of(rank())).square().sum().backward();
  check_gradients(*net, sums);
}

TEST_CASE("frozen parameters may be unfrozen and converted later", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  net->layers[0]->weight.requires_grad_(false);
  DistributedDataParallel parallel(net, small());
  check_equal_on_ranks(net->parameters());
  const auto check = [&] {
    net->zero_grad(/*set_to_none=*/true);
    const auto expected = expected_gradients(net, [&](auto& copy, int r) {
      return copy.forward(input_of(r).to(copy.layers[3]->weight.dtype())).square().sum();
    });
    parallel(input_of(rank()).to(net->layers[3]->weight.dtype())).square().sum().backward();
    const std::vector<Tensor> p = net->parameters();
    for (std::size_t i = 0; i < p.size(); ++i)
      if (p[i].requires_grad())
        CHECK(ebb::allclose(p[i].grad(), expected[i]));
      else
        CHECK_FALSE(p[i].grad().defined());
  };
  check();
  net->layers[0]->weight.requires_grad_(true);
  net->layers[2]->bias.requires_grad_(false);
  check();
  net->layers[2]->bias.requires_grad_(true);
  check();
  net->to(ebb::kFloat);
  net->layers[0]->weight.requires_grad_(true);
  check();
}

TEST_CASE("nets with one parameter and with none work", "[.ddp-edges]") {
  ranks::join();
  struct One : ebb::nn::Module {
    One() { scale = register_parameter("scale", ebb::full({}, 2. + rank())); }
    std::vector<Tensor> forward(const Tensor& x) { return {x * scale, x}; }
    Tensor scale;
  };
  DistributedDataParallel one(std::make_shared<One>());
  CHECK(one->module->scale.item<double>() == 2);
  one(ebb::full({3}, rank() + 1.))[0].sum().backward();
  CHECK(one->module->scale.grad().item<double>() == Approx(3 * (world_size() + 1) / 2.));
  DistributedDataParallel none(ebb::nn::Tanh{});
  CHECK_FALSE(none(ebb::ones({2})).requires_grad());
  const Tensor x = ebb::ones({2}).requires_grad_();
  none(x).sum().backward();
  CHECK(x.grad().defined());
  ebb::nn::Sequential bare(
      ebb::nn::Linear(6, 5),
      ebb::nn::BatchNorm1d(ebb::nn::BatchNormOptions(5).affine(false).track_running_stats(false)));
  DistributedDataParallel without_buffers(bare);
  without_buffers(ebb::rand({3, 6})).square().sum().backward();
  check_equal_on_ranks({bare->parameters()[0].grad()});
}

TEST_CASE("outputs may be changed in place and evaluated without gradients", "[.ddp-edges]") {
  ranks::join();
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net);
  const auto expected = expected_gradients(
      net, [&](auto& copy, int r) { return (copy.forward(input_of(r)) * 2).relu().sum(); });
  Tensor y = parallel(input_of(rank()));
  y.mul_(2).relu_();
  y.sum().backward();
  check_gradients(*net, expected);
  if (rank() == 0) {  // evaluation on one rank needs no other
    const ebb::NoGradGuard no_grad;
    parallel->eval();
    CHECK_FALSE(parallel(input_of(0)).requires_grad());
  }
  barrier();
}

TEST_CASE("ranks with other numbers of batches join", "[.ddp-edges]") {
  ranks::join();
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net, small().uneven_inputs(true));
  ebb::nn::Sequential reference = new_net();
  reference->load_state_dict(net->state_dict());
  const auto options = ebb::optim::AdamOptions(0.1);
  ebb::optim::Adam optimizer(parallel->parameters(), options), other(reference->parameters(), options);
  const auto batches = [](int r) { return 2 * r; };  // rank 0 has none
  for (int step = 0; step < batches(rank()); ++step) {
    optimizer.zero_grad();
    parallel(input_of(rank(), step)).square().mean().backward();
    optimizer.step();
  }
  int shared = 0;
  parallel->join([&] {
    optimizer.step();
    ++shared;
  });
  CHECK(shared == batches(world_size() - 1) - batches(rank()));
  for (int step = 0; step < batches(world_size() - 1); ++step) {
    other.zero_grad(/*set_to_none=*/true);
    for (int r = 0; r < world_size(); ++r)
      if (step < batches(r))
        (reference->forward(input_of(r, step)).square().mean() / world_size()).backward();
    other.step();
  }
  check_equal_on_ranks(net->parameters());
  for (std::size_t i = 0; i < net->parameters().size(); ++i)
    CHECK(ebb::allclose(net->parameters()[i], reference->parameters()[i]));
  DistributedDataParallel strict(new_net());
  CHECK_THAT(error_of([&] { strict->join({}); }), support::Contains("uneven_inputs"));
}

TEST_CASE("buffers of the last rank with a batch count when ranks join", "[.ddp-edges]") {
  ranks::join();
  ebb::nn::Sequential net(ebb::nn::Linear(6, 5), ebb::nn::BatchNorm1d(5));
  DistributedDataParallel parallel(net, small().uneven_inputs(true));
  for (int step = 0; step <= rank(); ++step) parallel(ebb::rand({4, 6})).square().sum().backward();
  parallel->join({});
  check_equal_on_ranks(net->buffers());
  CHECK(net->buffers()[2].item<int>() == world_size());  // batches
}

TEST_CASE("a group of some ranks averages among them", "[.ddp-edges]") {
  ranks::join();
  const ProcessGroup last = new_group({world_size() - 1});
  if (last.rank() >= 0) {
    ebb::nn::Sequential net = new_net();
    DistributedDataParallel parallel(net, DistributedDataParallelOptions().process_group(last));
    CHECK(parallel->process_group() == last);
    net->forward(input_of(rank())).sum().backward();
    const Tensor alone = net->parameters()[0].grad().clone();
    net->zero_grad();
    parallel(input_of(rank())).sum().backward();
    CHECK(ebb::allclose(alone, net->parameters()[0].grad()));
  } else {
    CHECK_THAT(error_of([&] {
                 DistributedDataParallel(new_net(), DistributedDataParallelOptions().process_group(last));
               }),
               support::Contains("is not in group"));
  }
  barrier();
}

TEST_CASE("wrong options and nets are refused", "[.ddp-edges]") {
  ranks::join();
  using Options = DistributedDataParallelOptions;
  CHECK_THAT(error_of([&] { DistributedDataParallel(new_net(), Options().bucket_cap_mb(0)); }),
             support::Contains("bucket_cap_mb is 0"));
  CHECK_THAT(error_of([&] { DistributedDataParallel(new_net(), Options().reduce_dtype(ebb::kLong)); }),
             support::Contains("must be a floating dtype"));
  CHECK_THAT(error_of([&] { DistributedDataParallel(std::shared_ptr<Choice>()); }),
             support::Contains("the net is null"));
  CHECK_THAT(error_of([&] { DistributedDataParallel(ebb::nn::LazyLinear(3)); }),
             support::Contains("Call a net with lazy modules once"));
  if (world_size() > 1)
    CHECK_THAT(error_of([&] { DistributedDataParallel(ebb::nn::Linear(rank() == 1 ? 5 : 6, 2)); }),
               support::Contains("rank 0 has \"weight: Float[2, 6], requires a gradient\", but rank 1 has "
                                 "\"weight: Float[2, 5], requires a gradient\""));
}

TEST_CASE("an exception in backward is recovered before the first collective and reported after it",
          "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const auto failing = [&](int layer) {
    const Tensor weight = net->layers[layer]->weight;
    const unsigned hook = weight.register_hook([](const Tensor&) { throw std::runtime_error("stop"); });
    CHECK_THROWS_AS(parallel(input_of(rank())).sum().backward(), std::runtime_error);
    weight.remove_hook(hook);
  };
  parallel(input_of(rank())).sum().backward();
  failing(3);  // the first gradient of backward
  net->zero_grad(/*set_to_none=*/true);
  const auto expected =
      expected_gradients(net, [&](auto& copy, int r) { return copy.forward(input_of(r)).square().sum(); });
  parallel(input_of(rank())).square().sum().backward();
  check_gradients(*net, expected);
  failing(0);  // after the first bucket
  CHECK_THAT(error_of([&] { parallel(input_of(rank())); }), support::Contains("Restart from a checkpoint"));
}

TEST_CASE("a rank that ends its loop early is named on the others") {
  if (!ranks::can_run()) return;
  const ranks::Outcome outcome = ranks::run(2, "[.ddp-early]");  // MPI reports that a rank failed
  INFO(outcome.output);
  CHECK_THAT(outcome.output, support::Contains("(2 assertions"));
  CHECK(outcome.status != 124);  // the limit of `timeout`
}
TEST_CASE("rank 1 has one batch less", "[.ddp-early]") {
  ranks::join();
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net);
  parallel(input_of(rank())).sum().backward();
  if (rank() == 1) return;
  const Tensor y = parallel(input_of(rank())).sum();
  CHECK_THAT(error_of([&] { y.backward(); }),
             support::Contains("all_reduce: rank 0 of 2") && support::Contains("rank 1 has left"));
  CHECK_THAT(error_of([&] { parallel(input_of(rank())); }), support::Contains("Restart from a checkpoint"));
}
