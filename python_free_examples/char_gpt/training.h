// Training: the training of a character-level GPT, with checkpoints.
#pragma once

#include <ebb/checkpoint.h>
#include <ebb/models.h>
#include <ebb/watch.h>

#include "text.h"

#include <string>
#include <vector>

/// The size of the model and the length of the training.
struct Plan {
  std::int64_t block, width, layers, heads;  ///< the model's context in characters, and its size
  double dropout;
  std::int64_t batch, steps, warm_up;
  double lr;            ///< the learning rate after the warm-up; it decreases to a tenth
  std::int64_t report;  ///< the number of steps between two reports: a line, a held-out loss and a checkpoint
};

/// The training of a small GPT on a text. Its checkpoint contains the model, the optimizer, the schedule and
/// the losses.
class Training {
 public:
  /// Its losses are recorded in `report`.
  Training(const Text& text, const Plan& plan, ebb::Device device, const std::string& checkpoint,
           ebb::watch::Recorder& report);
  /// Continues from the checkpoint. Returns false if there is none. Throws ebb::Error if the checkpoint has
  /// more steps than the plan.
  bool resume();
  /// Runs the remaining steps, with a report after every plan.report steps. After Ctrl-C it saves a
  /// checkpoint and throws ebb::watch::Interrupted.
  void run();
  /// Returns the nats per character of the held-out text. Each character is predicted from at least half a
  /// block of context.
  double held_out_loss();
  /// Returns `start` and generated text after it, `length` characters in total.
  std::string sample(const std::string& start, std::int64_t length);

  std::int64_t parameters() const;
  std::int64_t step() const { return step_; }
  const std::vector<double>& losses() const { return losses_; }              // one per step
  const std::vector<double>& held_out_steps() const { return held_steps_; }  // one per report
  const std::vector<double>& held_out_losses() const { return held_losses_; }

 private:
  double train_step();

  const Text& text_;
  Plan plan_;
  ebb::watch::Recorder& report_;
  ebb::Tensor training_, held_out_;
  ebb::models::GPT2LMHeadModel net_;
  ebb::optim::AdamW optimizer_;
  ebb::optim::LambdaLR schedule_;
  std::int64_t step_ = 0;
  std::vector<double> losses_, held_steps_, held_losses_;
  std::string checkpoint_path_;
  ebb::Checkpoint checkpoint_;
};
