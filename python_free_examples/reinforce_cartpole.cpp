// REINFORCE (Williams 1992) on CartPole-v1: a policy learns to balance a pole on a cart.
//
// The only feedback is the number of steps until the pole falls. Expected: a mean return of at least 475 of
// 500 steps over the last 100 tries (476 to 485 were reached), after some 500 tries and in 1 s.
#include <ebb/models.h>
#include <ebb/watch.h>

#include "common/cartpole.h"
#include "common/program.h"

#include <cstdio>
#include <vector>

namespace {

using ebb::Tensor;
using example::CartPole;

constexpr double kDiscount = 0.99;

// The states and actions of one try, and the return of each step: the discounted sum of the rewards from this
// step on.
struct Episode {
  std::vector<float> states;
  std::vector<std::int64_t> actions;
  std::vector<float> returns;
  double length() const { return static_cast<double>(actions.size()); }
};

Episode play(ebb::models::MLP& policy, CartPole& cart) {
  const ebb::NoGradGuard no_grad;
  Episode episode;
  CartPole::State state = cart.reset();
  for (bool done = false; !done;) {
    episode.states.insert(episode.states.end(), state.begin(), state.end());
    const Tensor logits = policy(ebb::tensor(std::vector<float>(state.begin(), state.end())));
    episode.actions.push_back(ebb::multinomial(logits.softmax(-1), 1).item<std::int64_t>());
    const CartPole::Outcome outcome = cart.step(episode.actions.back());
    state = outcome.state;
    done = outcome.done();
  }
  episode.returns.resize(episode.actions.size());
  double sum = 0;
  for (std::size_t t = episode.returns.size(); t-- > 0;)
    episode.returns[t] = static_cast<float>(sum = 1 + kDiscount * sum);
  return episode;
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Returns -mean(log p(action) * advantage), where the advantage is the normalised return. The gradient of
// -loss estimates the gradient of the expected return (the policy gradient).
Tensor surrogate_loss(ebb::models::MLP& policy, const std::vector<Episode>& episodes) {
  Episode all;
  for (const Episode& e : episodes) {
    append(all.states, e.states);
    append(all.actions, e.actions);
    append(all.returns, e.returns);
  }
  const Tensor states = ebb::tensor(all.states).reshape({-1, 4}), actions = ebb::tensor(all.actions);
  const Tensor returns = ebb::tensor(all.returns);
  const Tensor advantages = (returns - returns.mean()) / (returns.std() + 1e-6);
  const Tensor log_p = policy(states).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1);
  return -(log_p * advantages).mean();
}

int train(const example::Settings& settings, std::int64_t tries, std::int64_t batch) {
  constexpr double kStated = 475;  // Gymnasium considers the task solved at this return
  // A state has only four elements, and states are processed one by one. This is too little work for a GPU.
  if (settings.device.is_cuda()) std::puts("The network is small and runs on the CPU, in about a second.");
  ebb::models::MLP policy(std::vector<std::int64_t>{4, 64, CartPole::kActions});
  ebb::optim::Adam optimizer(policy->parameters(), ebb::optim::AdamOptions(1e-2));
  CartPole cart(settings.seed);

  std::vector<double> lengths, means;
  ebb::watch::Mean recent(/*window=*/100);
  ebb::watch::Progress bar("balancing", {tries, "tries"});
  while (std::ssize(lengths) < tries && (lengths.size() < 100 || means.back() < kStated)) {
    std::vector<Episode> episodes;
    for (std::int64_t i = 0; i < batch; ++i) {
      episodes.push_back(play(policy, cart));
      lengths.push_back(episodes.back().length());
      recent.update(lengths.back());
      means.push_back(recent.value());
    }
    const Tensor loss = surrogate_loss(policy, episodes);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    settings.report().add_scalar("mean return", means.back(), std::ssize(lengths));
    bar.set("mean return", means.back()).advance(batch);
  }
  bar.finish(std::to_string(lengths.size()) + " tries");

  settings.draw("reinforce_cartpole.svg", ebb::watch::Figure("REINFORCE on CartPole-v1", "try",
                                                             "steps until the pole fell (500: it did not)")
                                              .line("each try", lengths)
                                              .line("mean of 100", means));
  return example::at_least("mean return of the last 100 tries", means.back(), kStated);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Learns to balance a pole with the policy gradient (REINFORCE).");
  std::int64_t tries = 2000, batch = 8;
  program.option("--tries", tries, "maximum number of tries");
  program.option("--batch", batch, "tries per optimizer step");
  return program.run(argc, argv,
                     [&](const example::Settings& settings) { return train(settings, tries, batch); });
}
