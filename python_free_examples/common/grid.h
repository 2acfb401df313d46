// save_grid: writes images to one PNG file.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <string>

namespace example {

/// Writes images [n, 1, rows, columns] with values in [0, 1] as a grid to a PNG file. Small images are
/// enlarged.
void save_grid(const ebb::Tensor& images, std::int64_t columns, const std::string& path);

}  // namespace example
