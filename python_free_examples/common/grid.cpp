// save_grid: writes images to one PNG file.
#include "common/grid.h"

#include <ebb/ebb.h>
#include <ebb/vision/grid.h>
#include <ebb/vision/image_io.h>

#include <fmt/format.h>

#include <algorithm>

namespace example {

void save_grid(const ebb::Tensor& images, std::int64_t columns, const std::string& path) {
  const std::int64_t scale = std::max<std::int64_t>(1, 32 / images.size(2));
  const ebb::Tensor large =
      images.detach().to(ebb::kCPU).repeat_interleave(scale, 2).repeat_interleave(scale, 3);
  ebb::vision::write_png((ebb::vision::make_grid(large, columns, 2, 1) * 255).round().to(ebb::kUInt8), path);
  fmt::print("{}\n", path);
}

}  // namespace example
