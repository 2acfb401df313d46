// unravel_index: converts flat indices to coordinates.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>

namespace ebb {

std::vector<Variable> unravel_index(const Variable& indices, IntArrayRef shape) {
  EBB_CHECK(is_integral(indices.dtype()), "unravel_index: expected indices of an integer dtype, got ",
            indices.dtype(), ".");
  for (const std::int64_t size : shape)
    EBB_CHECK(size > 0 || (size == 0 && indices.numel() == 0), "unravel_index: the shape ", shape,
              " has a size that is ", size < 0 ? "negative." : "0, but there are indices.");
  std::vector<Variable> coordinates(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t size = std::max<std::int64_t>(shape[d], 1);
    coordinates[d] = indices.to(kLong).floor_divide(stride).remainder(size);
    stride *= size;
  }
  return coordinates;
}

}  // namespace ebb
