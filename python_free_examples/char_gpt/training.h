// The training of a language model: its size, its steps, its losses.
#pragma once

#include <ebb/checkpoint.h>
#include <ebb/models.h>

#include "text.h"

#include <cstdint>
#include <string>
#include <vector>

/// How large, and how long.
struct Plan {
  std::int64_t block, width, layers, heads;  ///< the model: characters that it sees, and its size
  double dropout;
  std::int64_t batch, steps, warm_up;
  double lr;            ///< the highest, after the warm-up; a tenth of it at the end
  std::int64_t report;  ///< steps between two lines, held-out losses and checkpoints
};

/// A small GPT that learns a text, with all that belongs in its checkpoint.
class Training {
 public:
  Training(const Text& text, const Plan& plan, ebb::Device device, const std::string& checkpoint);
  /// Goes on where the checkpoint was written; false where there is none. Throws ebb::Error where it has more
  /// steps than the plan.
  bool resume();
  /// All steps that are left, a line and a checkpoint each plan.report of them. Throws example::Interrupted
  /// after Ctrl-C, with a checkpoint of the step at which it stopped.
  void run();
  /// Nats per character of the held-out text, each predicted from at least half a block before it.
  double held_out_loss();
  /// `start` and what follows it, `length` characters in all.
  std::string sample(const std::string& start, std::int64_t length);

  std::int64_t parameters() const;
  std::int64_t step() const { return step_; }
  const std::vector<double>& losses() const { return losses_; }              // a step each
  const std::vector<double>& held_out_steps() const { return held_steps_; }  // a report each
  const std::vector<double>& held_out_losses() const { return held_losses_; }

 private:
  double train_step();

  const Text& text_;
  Plan plan_;
  ebb::Tensor training_, held_out_;
  ebb::models::GPT2LMHeadModel net_;
  ebb::optim::AdamW optimizer_;
  ebb::optim::LambdaLR schedule_;
  std::int64_t step_ = 0;
  std::vector<double> losses_, held_steps_, held_losses_;
  std::string checkpoint_path_;
  ebb::Checkpoint checkpoint_;
};
