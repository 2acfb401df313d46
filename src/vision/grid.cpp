// make_grid: combines a batch of images into one picture.
#include <ebb/ebb.h>
#include <ebb/vision/grid.h>

#include <algorithm>

namespace ebb::vision {

Variable make_grid(const Variable& images, std::int64_t columns, std::int64_t padding, double pad_value) {
  EBB_CHECK(images.dim() >= 2 && images.dim() <= 4,
            "make_grid: images must be [N, C, H, W], [C, H, W] or [H, W], got shape ", images.sizes());
  EBB_CHECK(columns > 0 && padding >= 0, "make_grid: columns must be positive and padding not negative, got ",
            columns, " and ", padding);
  Variable batch = images;
  while (batch.dim() < 4) batch = batch.unsqueeze(0);
  if (batch.size(1) == 1) batch = batch.expand({-1, 3, -1, -1});
  const std::int64_t n = batch.size(0), across = std::max<std::int64_t>(std::min(columns, n), 1),
                     down = (n + across - 1) / across;
  const std::int64_t height = batch.size(2) + padding, width = batch.size(3) + padding;
  Variable grid =
      full({batch.size(1), down * height + padding, across * width + padding}, pad_value, batch.options());
  for (std::int64_t i = 0; i < n; ++i)
    grid.narrow(1, i / across * height + padding, batch.size(2))
        .narrow(2, i % across * width + padding, batch.size(3))
        .copy_(batch[i]);
  return grid;
}

}  // namespace ebb::vision
