// DistributedDataParallel in passes of all kinds: of some gradients, of higher order, nested, recomputed.
#include <ebb/autograd/checkpoint.h>

#include "ddp.h"

using namespace ddp;

TEST_CASE("derivatives of parameters by grad are refused", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const Tensor weight = net->parameters()[0];
  Tensor y = parallel(input_of(rank())).sum();
  CHECK_THAT(error_of([&] { ebb::autograd::grad({y}, {weight}); }),
             support::Contains("the gradient of layer0.weight is not averaged by autograd::grad"));
  y = parallel(input_of(rank())).sum();
  CHECK_THAT(error_of([&] { y.backward({}, true, true); }), support::Contains("create_graph"));
  y = parallel(input_of(rank())).sum();
  CHECK_THAT(error_of([&] { ebb::autograd::backward({y}, {}, {}, false, {weight}); }),
             support::Contains("list of inputs"));
  // The wrapped net gives the gradient of this rank, and the next pass is not disturbed.
  CHECK(ebb::autograd::grad({parallel->module->forward(input_of(0)).sum()}, {weight})[0].defined());
  net->zero_grad();
  const auto expected =
      expected_gradients(net, [&](auto& copy, int r) { return copy.forward(input_of(r)).square().sum(); });
  parallel(input_of(rank())).square().sum().backward();
  check_gradients(*net, expected);
}

TEST_CASE("a pass over an input does not disturb later passes through the net alone", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const Tensor x = input_of(rank()).requires_grad_();
  CHECK(ebb::autograd::grad({parallel(x).sum()}, {x})[0].defined());
  net->forward(x).sum().backward();
  const Tensor alone = net->parameters()[0].grad().clone();
  net->zero_grad();
  ebb::autograd::backward({net->forward(x).sum()}, {}, {}, false, {net->parameters()[0]});
  CHECK(ebb::equal(net->parameters()[0].grad(), alone));
}

TEST_CASE("a parameter behind more than 64 others is refused by its name", "[.ddp-edges]") {
  ranks::join();
  ebb::nn::Sequential net;
  for (int i = 0; i < 70; ++i) net->push_back(ebb::nn::Linear(2, 2));
  DistributedDataParallel parallel(net);
  const Tensor y = parallel(ebb::ones({1, 2})).sum();
  CHECK_THAT(error_of([&] { ebb::autograd::grad({y}, {net->parameters()[1]}); }),
             support::Contains("the gradient of 0.bias"));
  CHECK_THAT(error_of([&] { ebb::autograd::grad({y}, {net->parameters()[138]}); }),
             support::Contains("the gradient of 69.weight"));
}

TEST_CASE("gradients are averaged when the wrapper ends before backward", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  Tensor loss;
  std::vector<Tensor> expected;
  {
    DistributedDataParallel parallel(net, small());
    expected =
        expected_gradients(net, [&](auto& copy, int r) { return copy.forward(input_of(r)).square().sum(); });
    loss = parallel(input_of(rank())).square().sum();
  }
  loss.backward();
  check_gradients(*net, expected);
}

TEST_CASE("a second gradient from a backward inside of backward is added or refused", "[.ddp-edges]") {
  ranks::join();
  // While the gradient of layer `first` is computed, that of layer `second` gets an addend.
  const auto run = [](ChoiceHolder& net, DistributedDataParallel<Choice>& parallel, int first, int second) {
    bool is_nested = false;
    net->layers[first]->weight.register_hook([&](const Tensor&) {
      const ebb::AutoGradMode recording(true);
      if (!std::exchange(is_nested, true)) net->layers[second]->weight.square().sum().backward();
    });
    parallel(input_of(rank())).square().sum().backward();
  };
  ChoiceHolder net;
  DistributedDataParallel parallel(net);  // one bucket, which waits for the gradients of layer 0
  const auto expected = expected_gradients(net, [&](auto& copy, int r) {
    return copy.forward(input_of(r)).square().sum() + copy.layers[1]->weight.square().sum();
  });
  run(net, parallel, 1, 1);
  check_gradients(*net, expected);
  ChoiceHolder other;
  DistributedDataParallel reduced(other, small());
  CHECK_THAT(error_of([&] { run(other, reduced, 0, 3); }),
             support::Contains("layer3.weight has got another gradient after its reduction"));
}

TEST_CASE("the gradient of a gradient penalty is averaged", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const auto penalty = [](auto&& call, int r) {
    const Tensor x = input_of(r).requires_grad_();
    const Tensor slope = ebb::autograd::grad({call(x).sum()}, {x}, {}, {}, true)[0];
    return (slope.norm() - 1).square();
  };
  const auto expected = expected_gradients(
      net, [&](auto& copy, int r) { return penalty([&](const Tensor& x) { return copy.forward(x); }, r); });
  for (int pass = 0; pass < 2; ++pass) {
    net->zero_grad();
    penalty([&](const Tensor& x) { return parallel(x); }, rank()).backward();
    // The bias of the last layer has no effect on this loss in one formula, but a gradient of zero in
    // another.
    check_gradients(*net, expected);
    const Tensor total = penalty([&](const Tensor& x) { return parallel(x); }, rank()) +
                         parallel(input_of(rank(), 2)).square().sum();
    net->zero_grad();
    total.backward();
    check_equal_on_ranks({net->parameters()[0].grad(), net->parameters()[5].grad()});
  }
}

TEST_CASE("several calls before one backward are averaged once", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const auto loss = [](auto&& call, int r) {
    return (call(input_of(r, 0)) * call(input_of(r, 1)).tanh()).sum() + call(input_of(r, 2)).square().sum();
  };
  const auto expected = expected_gradients(
      net, [&](auto& copy, int r) { return loss([&](const Tensor& x) { return copy.forward(x); }, r); });
  loss([&](const Tensor& x) { return parallel(x); }, rank()).backward();
  check_gradients(*net, expected);
  // Two backward passes after two calls.
  net->zero_grad();
  const Tensor a = parallel(input_of(rank(), 0)).square().sum(), b = parallel(input_of(rank(), 1)).sum();
  a.backward();
  b.backward();
  const auto both = expected_gradients(net, [&](auto& copy, int r) {
    return copy.forward(input_of(r, 0)).square().sum() + copy.forward(input_of(r, 1)).sum();
  });
  check_gradients(*net, both);
}

TEST_CASE("a graph that is kept can be averaged twice", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const Tensor y = parallel(input_of(rank())).square().sum();
  y.backward({}, /*retain_graph=*/true);
  const Tensor once = net->parameters()[0].grad().clone();
  y.backward();
  CHECK(ebb::allclose(net->parameters()[0].grad(), 2 * once));
}

TEST_CASE("checkpointed segments inside and around the net are averaged", "[.ddp-edges]") {
  ranks::join();
  ChoiceHolder net;
  DistributedDataParallel parallel(net, small());
  const auto expected =
      expected_gradients(net, [&](auto& copy, int r) { return copy.forward(input_of(r)).square().sum(); });
  for (int pass = 0; pass < 2; ++pass) {
    net->zero_grad();
    ebb::autograd::checkpoint([&](const Tensor& x) { return parallel(x); }, input_of(rank()))
        .square()
        .sum()
        .backward();
    check_gradients(*net, expected);
  }
  // Segments inside of the net.
  struct Segments : ebb::nn::Module {
    explicit Segments(const ChoiceHolder& inner) : net(register_module("net", inner.ptr())) {}
    Tensor forward(Tensor x) {
      for (const std::vector<int>& part : {std::vector<int>{0, 1}, std::vector<int>{2, 3}})
        x = ebb::autograd::checkpoint([this, part](const Tensor& y) { return net->forward(y, part); }, x);
      return x;
    }
    std::shared_ptr<Choice> net;
  };
  DistributedDataParallel segments(std::make_shared<Segments>(net), small());
  net->zero_grad(/*set_to_none=*/true);
  segments(input_of(rank())).square().sum().backward();
  check_gradients(*net, expected);
}
