// Activations of straight pieces, and channels dealt out anew: their functions, and their modules.
#include <ebb/nn/modules/channel_shuffle.h>
#include <ebb/nn/modules/hard_activation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include "nn/stateless.h"

namespace ebb::nn {

namespace functional {

Variable hardsigmoid(Variable input, const HardsigmoidFuncOptions& o) {
  return o.inplace() ? ebb::hardsigmoid_(input) : ebb::hardsigmoid(input);
}
Variable hardswish(Variable input, const HardswishFuncOptions& o) {
  return o.inplace() ? ebb::hardswish_(input) : ebb::hardswish(input);
}

}  // namespace functional

static void print(Fields& out, const HardsigmoidOptions& o) { out.flag("inplace", o.inplace()); }
EBB_STATELESS_AS(functional::hardsigmoid, HardsigmoidImpl, HardsigmoidOptions, Variable);
static void print(Fields& out, const HardswishOptions& o) { out.flag("inplace", o.inplace()); }
EBB_STATELESS_AS(functional::hardswish, HardswishImpl, HardswishOptions, Variable);

static void print(Fields& out, const ChannelShuffleOptions& o) { out("groups", o.groups()); }
static void check(const ChannelShuffleOptions& o) {
  EBB_CHECK(o.groups() > 0, "ChannelShuffle: groups must be positive, got ", o.groups(), ".");
}
static Variable call(const ChannelShuffleImpl& m, const Variable& x) {
  return channel_shuffle(x, m.options.groups());
}
EBB_STATELESS(ChannelShuffleImpl, ChannelShuffleOptions, Variable);

}  // namespace ebb::nn
