// CPU kernels of the pointwise losses that use logarithms or exponentials.
#include "ops/loss/cpu_pointwise.h"

namespace ebb::kernels {
namespace {

[[gnu::used]] constinit const auto kept = slots_of(math::LogarithmicLosses{});

}  // namespace
}  // namespace ebb::kernels
