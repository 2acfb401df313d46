// What tells NumPy's archives from other zips.
#pragma once

#include <memory>

#include "io/bytes.h"

namespace ebb::npy {

/// Whether the bytes are a zip archive of arrays alone.
bool holds_arrays(const std::shared_ptr<const io::Bytes>& bytes);

}  // namespace ebb::npy
