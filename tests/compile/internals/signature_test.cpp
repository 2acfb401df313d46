// The argument types of a slot decide whether a tape can record its calls.
#include "../twins.h"
#include "kernel/slot.h"

using namespace twins;
using support::Contains;

namespace {

void scale(NdArray& x, const float* by) {
  for (std::int64_t i = 0; i < x.numel(); ++i) x.address_as<float>()[i] *= *by;
}
using Scale = KernelSlot<void(NdArray&, const float*)>;
constinit Scale scale_slot("scale", [] {
  std::array<Scale::Function, detail::kCpuLevels> all{};
  all.fill(scale);
  return all;
}());

}  // namespace

TEST_CASE("a kernel that takes a pointer, which a tape cannot copy, keeps its function eager") {
  STATIC_REQUIRE(!detail::Signature<NdArray&, const float*>::can_be_kept);
  float by = 2;
  Warnings warnings;
  auto f = compile([&](const Tensor& x) {
    const Tensor y = x + 1;
    NdArray array = y.array();
    scale_slot(kCPU, array, &by);
    return y;
  });
  for (int i = 0; i < 5; ++i) {
    by = static_cast<float>(i);
    CHECK(same_bits(f(ones({3})), full({3}, 2.0 * i)));
  }
  CHECK(f.report().replays == 0);
  CHECK_THAT(f.report().reason, Contains("scale takes what a tape cannot keep"));
}
