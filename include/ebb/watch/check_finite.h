// CheckFinite: finds the op that computes the first NaN or infinity.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ebb::nn {
class Module;
}

namespace ebb::watch {

/// The result of CheckFinite.
struct NonFinite {
  std::string op;         ///< "matmul", or an optimizer: "Adam"
  std::string module;     ///< the path of the module, or the name of the parameter; empty outside of modules
  std::string direction;  ///< "forward", "backward" or "optimizer"
  std::int64_t step = 0;  ///< the number of steps that optimizers have made in the scope
  std::string message;    ///< all of this, with the inputs and the outputs of the op
};

class CheckFiniteOptions {
  EBB_ARG(bool, forward) = true;
  EBB_ARG(bool, backward) = true;
  EBB_ARG(bool, optimizer) = true;
  /// Without it, only NaN counts. A GradScaler, for example, expects infinite gradients.
  EBB_ARG(bool, infinities) = true;
  /// Without it, the check warns once, keeps the result in found(), and stops.
  EBB_ARG(bool, throws) = true;
};

/// Checks the results of all ops of this thread while it exists, on any device: in forward, in backward and
/// in optimizers. Throws at the first result with
/// - a NaN, computed from any inputs;
/// - an infinity, computed from finite inputs. Infinities that a program writes itself, as masks, and what is
///   computed from them, are no faults.
///     watch::CheckFinite check(*model);
///     loss.backward();
/// Each result is read once more, and on a GPU each op waits for its result, so a graph cannot be captured.
/// Compiled functions run eagerly in the scope. Optimizers are checked after each step, if they call their
/// hooks, as those of ebb do. torch.autograd.set_detect_anomaly checks only backward, and only for NaN.
class EBB_API CheckFinite {
 public:
  explicit CheckFinite(CheckFiniteOptions options = {});
  /// Also names the parameters of `model`, which must live longer.
  explicit CheckFinite(const nn::Module& model, CheckFiniteOptions options = {});
  ~CheckFinite();
  CheckFinite(const CheckFinite&) = delete;
  CheckFinite& operator=(const CheckFinite&) = delete;

  const std::optional<NonFinite>& found() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ebb::watch
