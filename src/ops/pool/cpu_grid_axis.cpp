// The usual selections along an axis: 32-bit places and float weights.
#include "ops/pool/cpu_grid_axis.h"

namespace ebb::cpu::grid {

template struct AxisSelection<std::int32_t, 1, float>;
template struct AxisSelection<std::int32_t, 2, float>;
template struct AxisSelection<std::int32_t, 4, float>;

}  // namespace ebb::cpu::grid
