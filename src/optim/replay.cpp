// The conditions under which a recorded optimizer step is still valid.
#include "optim/replay.h"

#include <algorithm>

namespace ebb::optim {

Optimizer::Replay::Extent::Extent(const Optimizer& optimizer, std::vector<bool> options)
    : parameters_(optimizer.size()), options_(std::move(options)) {
  for (const OptimizerParamGroup& group : optimizer.param_groups_)
    for (const Variable& parameter : group.params())
      if (!parameter.grad().defined()) without_gradient_.push_back(parameter);
}

bool Optimizer::Replay::Extent::holds(const Optimizer& optimizer, const std::vector<bool>& options) const {
  const auto has_none = [](const Variable& parameter) { return !parameter.grad().defined(); };
  return optimizer.size() == parameters_ && options == options_ &&
         std::all_of(without_gradient_.begin(), without_gradient_.end(), has_none);
}

}  // namespace ebb::optim
