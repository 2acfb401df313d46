// States of a device's generator, and runs on a device that go on bit for bit.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

using namespace ebb;

TEST_CASE("the state of a device's generator is two numbers, and it goes on from them") {
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

TEST_CASE("a run on a device goes on bit for bit, its dropout too") {
  const support::Folder folder;
  const std::string path = folder / "run.ckpt";
  // Six steps, or the first three of them, saved, or what is left of them.
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
