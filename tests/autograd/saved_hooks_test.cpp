// Which tensors saved-tensor hooks are given, and what comes of those they give back.
#include <ebb/autograd/saved_variable.h>

#include "autograd/semantics.h"

using namespace semantics;
using ebb::autograd::SavedTensorHooks;

namespace {

std::shared_ptr<void> keep(const Variable& x) { return std::make_shared<Variable>(x); }
Variable give(const std::shared_ptr<void>& kept) { return *static_cast<Variable*>(kept.get()); }

}  // namespace

TEST_CASE("saved hooks: what is kept as it was given keeps no graph alive") {
  const auto nodes = ebb::live_node_count();
  {
    const SavedTensorHooks hooks(keep, give);
    Variable x = leaf({0.5});
    Variable y = x.exp().tanh().sigmoid();
    const Variable g = grad({y}, {x}, {}, true, true)[0];
    (void)grad({g}, {x}, {}, true);
  }
  REQUIRE(ebb::live_node_count() == nodes);
}

TEST_CASE("saved hooks: the outputs of a node with several are told apart") {
  Variable x = leaf({1, 2, 3, 4});
  const auto parts = (x * 1).chunk(2);
  Variable y;
  {
    const SavedTensorHooks hooks(keep, give);
    y = (parts[0] * parts[1]).sum();
  }
  const Variable g = grad({y}, {x}, {}, true, true)[0];
  require_values(g, {3, 4, 1, 2});
  require_values(grad({(g * ebb::tensor({1.0, 10.0, 100.0, 1000.0}, ebb::kFloat64)).sum()}, {x})[0],
                 {100, 1000, 1, 10});
}
