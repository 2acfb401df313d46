// CPU kernels of the pointwise losses that only add and multiply.
#include "ops/loss/cpu_pointwise.h"

namespace ebb::kernels {
namespace {

[[gnu::used]] constinit const auto kept = slots_of(math::PlainLosses{});

}  // namespace
}  // namespace ebb::kernels
