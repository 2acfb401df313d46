// Advantage actor-critic (A2C; Mnih 2016) on CartPole-v1: a policy learns to balance a pole on a cart.
//
// Trained in 16 environments at the same time. Expected: a mean return of at least 475 of 500 steps over the
// last 100 episodes (476 to 485 were reached), after some 1,000 episodes and in 1 s.
//
// The actor chooses actions, and the critic estimates the return of each state. Actions whose return was
// higher than the critic's estimate become more likely.
#include <ebb/models.h>
#include <ebb/watch.h>

#include "common/cartpole.h"
#include "common/program.h"

#include <array>
#include <cstdio>
#include <vector>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;
using example::CartPole;

constexpr std::int64_t kCarts = 16, kSteps = 32;             // the environments and the steps of a batch
constexpr double kDiscount = 0.99, kReward = 1 - kDiscount;  // so that expected returns are between 0 and 1
constexpr double kLambda = 0.95;  // of generalised advantage estimation (Schulman 2016)
constexpr double kValueCost = 0.5, kEntropyBonus = 0.01;

struct ActorCritic {
  ebb::models::MLP actor{std::vector<std::int64_t>{4, 64, CartPole::kActions}};  // logits of the actions
  ebb::models::MLP critic{std::vector<std::int64_t>{4, 64, 1}};  // the expected return of a state
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> all = actor->parameters();
    for (const Tensor& p : critic->parameters()) all.push_back(p);
    return all;
  }
};

// The environments. When an episode ends, its environment starts a new episode.
class Carts {
 public:
  explicit Carts(std::uint64_t seed) {
    for (std::uint64_t i = 0; i < kCarts; ++i) {
      carts_.emplace_back(seed * 1000 + i);
      states_.push_back(carts_.back().reset());
    }
  }

  Tensor states() const {
    std::vector<float> all;
    for (const CartPole::State& s : states_) all.insert(all.end(), s.begin(), s.end());
    return ebb::tensor(all).reshape({kCarts, 4});
  }

  // Runs one step of each environment. Returns 1 for each environment whose episode continues, and 0 for each
  // whose episode has ended.
  Tensor step(const Tensor& actions) {
    std::vector<float> goes_on;
    for (std::size_t i = 0; i < carts_.size(); ++i) {
      CartPole::Outcome outcome = carts_[i].step(actions[static_cast<std::int64_t>(i)].item<std::int64_t>());
      goes_on.push_back(outcome.done() ? 0.0f : 1.0f);
      ++lengths_[i];
      if (outcome.done()) {
        ++finished;
        recent.update(lengths_[i]);
        lengths_[i] = 0;
        outcome.state = carts_[i].reset();
      }
      states_[i] = outcome.state;
    }
    return ebb::tensor(goes_on);
  }

  std::int64_t finished = 0;                // the number of finished episodes
  ebb::watch::Mean recent{/*window=*/100};  // the length of the last 100 of them

 private:
  std::vector<CartPole> carts_;
  std::vector<CartPole::State> states_;
  std::array<double, kCarts> lengths_ = {};
};

struct Rollout {
  Tensor states, actions;     // [steps, carts, 4], [steps, carts]
  Tensor advantages, values;  // [steps, carts]: values are the critic's estimates
};

Rollout collect(ActorCritic& model, Carts& carts) {
  const ebb::NoGradGuard no_grad;
  std::vector<Tensor> states, actions, values, goes_on;
  for (std::int64_t t = 0; t < kSteps; ++t) {
    states.push_back(carts.states());
    actions.push_back(ebb::multinomial(model.actor(states.back()).softmax(-1), 1).squeeze(1));
    values.push_back(model.critic(states.back()).squeeze(-1));
    goes_on.push_back(carts.step(actions.back()));
  }
  // Generalised advantage estimation, backwards in time: advantage[t] = td_error[t] + kDiscount * kLambda *
  // advantage[t + 1].
  Tensor next_value = model.critic(carts.states()).squeeze(-1), advantage = ebb::zeros({kCarts});
  std::vector<Tensor> advantages(kSteps);
  for (std::size_t t = kSteps; t-- > 0;) {
    const Tensor td_error = kReward + kDiscount * next_value * goes_on[t] - values[t];
    advantage = td_error + kDiscount * kLambda * advantage * goes_on[t];
    advantages[t] = advantage;
    next_value = values[t];
  }
  return {ebb::stack(states), ebb::stack(actions), ebb::stack(advantages), ebb::stack(values)};
}

Tensor loss_of(ActorCritic& model, const Rollout& rollout) {
  const Tensor log_p = model.actor(rollout.states).log_softmax(-1),
               values = model.critic(rollout.states).squeeze(-1);
  const Tensor taken = log_p.gather(-1, rollout.actions.unsqueeze(-1)).squeeze(-1);
  const Tensor& a = rollout.advantages;
  const Tensor normalised = (a - a.mean()) / (a.std() + 1e-6);
  const Tensor entropy = -(log_p.exp() * log_p).sum(-1).mean();
  return -(taken * normalised).mean() +
         kValueCost * nn::functional::smooth_l1_loss(values, rollout.values + a) - kEntropyBonus * entropy;
}

int train(const example::Settings& settings, std::int64_t most) {
  constexpr double kStated = 475;  // Gymnasium considers the task solved at this return
  // A state has only four elements. This is too little work for a GPU.
  if (settings.device.is_cuda()) std::puts("The networks are small and run on the CPU, in about a second.");
  ActorCritic model;
  ebb::optim::Adam optimizer(model.parameters(), ebb::optim::AdamOptions(3e-3));
  Carts carts(settings.seed);

  std::vector<double> steps, means;
  ebb::watch::Progress bar("balancing", {most * kCarts * kSteps});
  for (std::int64_t i = 0; i < most; ++i) {
    if (carts.finished >= 100 && means.back() >= kStated) break;
    const Tensor loss = loss_of(model, collect(model, carts));
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(model.parameters(), 0.5);
    optimizer.step();
    steps.push_back(static_cast<double>((i + 1) * kCarts * kSteps));
    means.push_back(carts.finished ? carts.recent.value() : 0);
    settings.report().add_scalar("mean return", means.back(), (i + 1) * kCarts * kSteps);
    bar.set("mean return", means.back()).advance(kCarts * kSteps);
  }
  bar.finish(std::to_string(carts.finished) + " episodes");

  settings.draw("actor_critic_cartpole.svg",
                ebb::watch::Figure("Actor-critic on CartPole-v1", "steps of all environments",
                                   "mean return of the last 100 episodes")
                    .line("return", steps, means));
  return example::at_least("mean return of the last 100 episodes", means.back(), kStated);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Learns to balance a pole with an actor and a critic, in 16 environments.");
  std::int64_t steps = 3000;
  program.option("--steps", steps, "maximum number of optimizer steps");
  return program.run(argc, argv, [&](const example::Settings& settings) { return train(settings, steps); });
}
