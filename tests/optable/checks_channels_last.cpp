// Images whose channels lie innermost: they stay so from op to op, with the values of contiguous ones.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

namespace optable {
namespace {

ebb::MemoryFormat last_of(const Variable& x) {
  return x.dim() == 4 ? ebb::MemoryFormat::ChannelsLast : ebb::MemoryFormat::ChannelsLast3d;
}
// With one channel, or one place, both formats fit.
bool tells(const Variable& x) { return x.size(1) > 1 && x.numel() > x.size(0) * x.size(1); }

void require_format(const Variable& x, bool last) {
  if (!tells(x)) return;
  REQUIRE(x.is_contiguous(last_of(x)) == last);
  REQUIRE(x.is_contiguous() != last);
}

}  // namespace

void check_channels_last(const Row& row, ebb::Device device) {
  if (!row.keeps_channels_last) return;
  int compared = 0;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", channels last, sample " << s);
    variable_list plain;
    for (const Variable& x : make_inputs(row, s)) plain.push_back(x.to(ebb::TensorOptions(device)));
    if (plain[0].dim() < 4) continue;
    plain = with_grad(row, plain);
    variable_list last = plain;
    last[0] = plain[0].detach().contiguous(last_of(plain[0])).requires_grad_();
    const Variable expected = row.function(plain)[0], got = row.function(last)[0];
    if (!tells(plain[0])) continue;
    ++compared;
    require_format(expected, false);
    require_format(got, true);
    require_close(got, to_array(expected), 1e-10);
    const Variable seed = seed_for(expected);
    const Variable slope = ebb::autograd::grad({expected}, {plain[0]}, {seed}, true)[0];
    require_format(slope, false);
    for (const Variable& each : {seed, seed.contiguous(last_of(seed))}) {
      const Variable turned = ebb::autograd::grad({got}, {last[0]}, {each}, true)[0];
      require_format(turned, true);
      require_close(turned, to_array(slope), 1e-10);
    }
  }
  REQUIRE(compared > 0);
}

}  // namespace optable
