// Mixed precision and optimizers in captured steps: replays count steps, cast weights, and follow the
// learning rate.
#include <ebb/amp/autocast.h>
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>

// Optimizers in captured steps: replays count steps and follow the learning rate, like eager steps.

using namespace ebb;
using namespace ebb::optim;

namespace {

using Params = std::vector<Tensor>;
using Make = std::function<std::unique_ptr<Optimizer>(const Params&)>;

const std::vector<std::pair<const char*, Make>>& kinds() {
  static const std::vector<std::pair<const char*, Make>> all = {
      {"SGD", [](const Params& p) { return std::make_unique<SGD>(p, SGDOptions(0.1)); }},
      {"SGD, Nesterov",
       [](const Params& p) {
         return std::make_unique<SGD>(p, SGDOptions(0.1).momentum(0.9).nesterov(true));
       }},
      {"Adam", [](const Params& p) { return std::make_unique<Adam>(p, AdamOptions(0.1).amsgrad(true)); }},
      {"AdamW", [](const Params& p) { return std::make_unique<AdamW>(p, AdamWOptions(0.1)); }},
      {"RMSprop",
       [](const Params& p) { return std::make_unique<RMSprop>(p, RMSpropOptions(0.1).momentum(0.5)); }},
      {"RMSprop that climbs",
       [](const Params& p) { return std::make_unique<RMSprop>(p, RMSpropOptions(0.1).maximize(true)); }},
      {"Adagrad",
       [](const Params& p) { return std::make_unique<Adagrad>(p, AdagradOptions(0.1).lr_decay(0.2)); }},
  };
  return all;
}

/// Parameters, one of them transposed, and a loss.
struct Problem {
  Params params;
  std::unique_ptr<Optimizer> optimizer;

  explicit Problem(const Make& make) {
    const TensorOptions options = TensorOptions(Device::CUDA).dtype(kDouble);
    params = {linspace(1, 2, 9, options).requires_grad_(),
              linspace(-1, 1, 12, options).view({3, 4}).t().detach().requires_grad_(),
              linspace(0, 1, 3, TensorOptions(Device::CUDA)).requires_grad_()};
    optimizer = make(params);
  }
  void step() {
    optimizer->zero_grad();
    Tensor loss = zeros({}, TensorOptions(Device::CUDA).dtype(kDouble));
    for (const Tensor& p : params) loss = loss + (p * p * p).sum();
    loss.backward();
    const Tensor norm = nn::utils::get_total_norm({params[0].grad(), params[1].grad()});
    nn::utils::clip_grads_with_norm_({params[0], params[1]}, 1.5, norm);
    optimizer->step();
  }
};

struct Outcome {
  Params params;
  Optimizer::StateDict state;
};

Outcome trained(const Make& make, bool captured) {
  Problem problem(make);
  StepLR schedule(*problem.optimizer, 2, 0.5);
  problem.step();
  cuda::Graph graph;
  if (captured) graph.capture([&] { problem.step(); });
  for (int i = 0; i < 5; ++i) {
    if (captured && i != 3)  // an eager step in between counts too
      graph.replay();
    else
      problem.step();
    schedule.step();
  }
  return {problem.params, problem.optimizer->state_dict()};
}

}  // namespace

TEST_CASE("captured optimizer steps give the results of eager steps") {
  for (const auto& [name, make] : kinds()) {
    INFO(name);
    const Outcome eager = trained(make, false), replayed = trained(make, true);
    for (std::size_t i = 0; i < eager.params.size(); ++i)
      CHECK(equal(eager.params[i].cpu(), replayed.params[i].cpu()));
    REQUIRE(eager.state.size() == replayed.state.size());
    for (std::size_t i = 0; i < eager.state.size(); ++i) {
      INFO(eager.state[i].first);
      CHECK(eager.state[i].first == replayed.state[i].first);
      CHECK(equal(eager.state[i].second.cpu(), replayed.state[i].second.cpu()));
    }
  }
}

TEST_CASE("a captured step refuses to create or drop optimizer state") {
  const Make adam = [](const Params& p) { return std::make_unique<Adam>(p, AdamOptions(0.1)); };
  Problem fresh(adam);
  cuda::Graph first;
  CHECK_THROWS_WITH(first.capture([&] { fresh.step(); }),
                    support::Contains("Run one step before the capture"));
  Problem problem(adam);
  problem.step();
  cuda::Graph graph;
  graph.capture([&] { problem.step(); });
  graph.replay();
  problem.optimizer->load_state_dict(problem.optimizer->state_dict());
  CHECK_THROWS_WITH(graph.replay(), support::Contains("Capture the step again"));
  Problem other(adam);
  other.step();
  graph.reset();
  graph.capture([&] { other.step(); });
  other.optimizer.reset();
  CHECK_THROWS_WITH(graph.replay(), support::Contains("Capture the step again"));
}

// Mixed precision on a device: captured steps cast their weights at each replay; data loaders pin their
// batches.

TEST_CASE("a captured graph casts the current weights in each replay") {
  Tensor w = ones({4, 4}, TensorOptions(kCUDA)).requires_grad_();
  const Tensor x = ones({2, 4}, TensorOptions(kCUDA));
  const amp::autocast casting(kCUDA, kBFloat16);
  const Tensor before = mm(x, w);  // the cast is cached for this scope
  cuda::Graph graph;
  Tensor captured;
  graph.capture([&] { captured = mm(x, w); });
  {
    const NoGradGuard no_grad;
    w.fill_(2);
  }
  graph.replay();
  CHECK(captured.detach().to(kFloat).cpu()[0][0].item<float>() == 8);
  CHECK(before.detach().to(kFloat).cpu()[0][0].item<float>() == 4);
  CHECK(mm(x, w).detach().to(kFloat).cpu()[0][0].item<float>() == 8);
}

TEST_CASE("a DataLoader pins its batches if requested") {
  for (const std::size_t workers : {0, 2})
    for (const bool pin : {false, true}) {
      CAPTURE(workers, pin);
      data::datasets::TensorListDataset rows({arange(8, kFloat).reshape({4, 2}), arange(4)});
      auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
          rows.map(data::transforms::Stack<std::vector<Tensor>>()),
          data::DataLoaderOptions(2).workers(workers).pin_memory(pin));
      int batches = 0;
      for (auto& batch : *loader) {
        CHECK(batch[0].is_pinned() == pin);
        CHECK(batch[1].is_pinned() == pin);
        CHECK(batch[1].to(kCUDA, kFloat, /*non_blocking=*/true).cpu()[0].item<int>() == 2 * batches++);
      }
      CHECK(batches == 2);
    }
  const data::Example<> one = data::pinned(data::Example<>(ones({2}), ones({2}, TensorOptions(kCUDA))));
  CHECK(one.data.is_pinned());
  CHECK(one.target.device().is_cuda());
  CHECK(data::pinned(std::vector<int>{1, 2}) == std::vector<int>{1, 2});
}
