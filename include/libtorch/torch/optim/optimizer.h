// The base of all optimizers, and the types of Optimizer::state().
#pragma once

#include <ebb/optim/optimizer.h>

#include <c10/util/flat_hash_map.h>
#include <torch/csrc/namespaces.h>

#include <memory>
#include <string>

namespace ska::detail {

/// The types of Optimizer::state() in 1.13 and in 2.x.
template <class Hash, class Equal>
struct MapOf<std::string, std::unique_ptr<ebb::optim::OptimizerParamState>, Hash, Equal> {
  using Type = ebb::optim::OptimizerStates;
};
template <class Hash, class Equal>
struct MapOf<void*, std::unique_ptr<ebb::optim::OptimizerParamState>, Hash, Equal> {
  using Type = ebb::optim::OptimizerStates;
};

}  // namespace ska::detail
