// Training: the steps, the held-out loss, and generated samples.
#include "training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace {

namespace nn = ebb::nn;
namespace optim = ebb::optim;
using ebb::Tensor;
using ebb::models::GPT2Config;
using ebb::models::GPT2LMHeadModel;

GPT2LMHeadModel model_for(const Plan& plan, std::int64_t vocab_size, ebb::Device device) {
  GPT2LMHeadModel net(GPT2Config(vocab_size)
                          .n_positions(plan.block)
                          .n_embd(plan.width)
                          .n_layer(plan.layers)
                          .n_head(plan.heads)
                          .embd_pdrop(plan.dropout)
                          .resid_pdrop(plan.dropout)
                          .attn_pdrop(plan.dropout));
  net->to(device);
  return net;
}

// Returns the parameter groups: weight decay applies to matrices, but not to biases and scales.
std::vector<optim::OptimizerParamGroup> groups_of(const GPT2LMHeadModel& net, double lr) {
  std::vector<Tensor> matrices, others;
  for (const Tensor& p : net->parameters()) (p.dim() > 1 ? matrices : others).push_back(p);
  const auto options = [lr](double decay) {
    return std::make_unique<optim::AdamWOptions>(
        optim::AdamWOptions(lr).betas({0.9, 0.99}).weight_decay(decay));
  };
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(matrices, options(0.1));
  groups.emplace_back(others, options(0));
  return groups;
}

// Returns the factor of the learning rate: a linear warm-up, then half a cosine down to a tenth.
double share(const Plan& plan, std::int64_t step) {
  if (step < plan.warm_up) return static_cast<double>(step + 1) / static_cast<double>(plan.warm_up);
  const double done =
      static_cast<double>(step - plan.warm_up) / static_cast<double>(plan.steps - plan.warm_up);
  return 0.55 + 0.45 * std::cos(std::numbers::pi * std::min(done, 1.0));
}

}  // namespace

Training::Training(const Text& text, const Plan& plan, ebb::Device device, const std::string& checkpoint,
                   ebb::watch::Recorder& report)
    : text_(text),
      plan_(plan),
      report_(report),
      training_(text.encode(text.training()).to(device)),
      held_out_(text.encode(text.held_out()).to(device)),
      net_(model_for(plan, text.vocab_size(), device)),
      optimizer_(groups_of(net_, plan.lr), optim::AdamWOptions(plan.lr)),
      schedule_(optimizer_, [plan](std::int64_t step) { return share(plan, step); }),
      checkpoint_path_(checkpoint),
      checkpoint_(checkpoint) {
  checkpoint_.add("model", net_)
      .add("optimizer", optimizer_)
      .add("schedule", schedule_)
      .add("step", step_)
      .add("losses", losses_)
      .add("held_steps", held_steps_)
      .add("held_losses", held_losses_);
}

bool Training::resume() {
  if (!checkpoint_.load()) return false;
  EBB_CHECK(step_ <= plan_.steps, checkpoint_path_, ": the checkpoint is of step ", step_, ", beyond the ",
            plan_.steps, " steps of this run. Give more --steps, or start again without --resume.");
  for (std::size_t i = 0; i < losses_.size(); ++i)
    report_.add_scalar("loss/training", losses_[i], static_cast<std::int64_t>(i) + 1);
  for (std::size_t i = 0; i < held_losses_.size(); ++i)
    report_.add_scalar("loss/held out", held_losses_[i], static_cast<std::int64_t>(held_steps_[i]));
  return true;
}

double Training::train_step() {
  const auto [input, target] = draw_windows(training_, plan_.batch, plan_.block);
  const Tensor loss = nn::functional::cross_entropy(net_(input).flatten(0, 1), target.flatten());
  optimizer_.zero_grad(/*set_to_none=*/true);
  loss.backward();
  nn::utils::clip_grad_norm_(net_->parameters(), 1);
  optimizer_.step();
  schedule_.step();
  return loss.item<double>();
}

void Training::run() {
  while (step_ < plan_.steps) {
    const std::int64_t next_report = (step_ / plan_.report + 1) * plan_.report,
                       end = std::min(plan_.steps, next_report), block = plan_.batch * plan_.block;
    ebb::watch::Progress bar(fmt::format("step {}/{}", end, plan_.steps),
                             {(end - step_) * block, "characters"});
    try {
      while (step_ < end) {
        losses_.push_back(train_step());
        ++step_;
        report_.add_scalar("loss/training", losses_.back(), step_);
        bar.average("loss", losses_.back()).advance(block);
      }
      held_steps_.push_back(static_cast<double>(step_));
      held_losses_.push_back(held_out_loss());
      checkpoint_.save();
      report_.add_scalar("loss/held out", held_losses_.back(), step_);
      bar.finish(fmt::format("held out {:.3f}", held_losses_.back()));
    } catch (const ebb::watch::Interrupted&) {
      checkpoint_.save();
      throw ebb::watch::Interrupted(
          fmt::format("stopped by Ctrl-C after step {} of {}, which is saved in {}; the same command with "
                      "--resume continues from there",
                      step_, plan_.steps, checkpoint_path_));
    }
  }
}

double Training::held_out_loss() {
  constexpr std::int64_t kBatch = 32;
  const ebb::NoGradGuard no_grad;
  net_->eval();
  const std::int64_t half = plan_.block / 2;
  const Tensor windows = held_out_.unfold(0, plan_.block + 1, half);
  ebb::watch::Perplexity perplexity;
  for (const Tensor& some : windows.split(kBatch)) {
    const Tensor logits = net_(some.narrow(1, 0, plan_.block)).narrow(1, plan_.block - half, half);
    perplexity.update(logits, some.narrow(1, plan_.block + 1 - half, half));
  }
  net_->train();
  return std::log(perplexity.value());
}

std::string Training::sample(const std::string& start, std::int64_t length) {
  const auto options = ebb::models::GenerateOptions().temperature(0.8);
  Tensor ids = text_.encode(start).to(training_.device()).unsqueeze(0);
  net_->eval();
  while (ids.size(1) < length) {
    ebb::watch::check_interrupt();
    // The context and the generated characters fit into one block. The context is therefore only the last
    // half block of the text.
    const Tensor context = ids.slice(1, std::max<std::int64_t>(0, ids.size(1) - plan_.block / 2));
    const std::int64_t more = std::min(length - ids.size(1), plan_.block - context.size(1));
    ids = ebb::cat({ids, net_->generate(context, more, options).slice(1, context.size(1))}, 1);
  }
  net_->train();
  return text_.decode(ids.flatten());
}

std::int64_t Training::parameters() const { return ebb::watch::summary(net_).total_params; }
