// Pictures of images.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <string>

namespace example {

/// Writes images, [n, 1, rows, columns] in [0, 1], side by side as a PNG file; small ones are enlarged.
void save_grid(const ebb::Tensor& images, std::int64_t columns, const std::string& path);

}  // namespace example
