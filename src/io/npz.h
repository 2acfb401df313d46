// What tells NumPy's archives from other zips.
#pragma once

#include <memory>
#include <string_view>

#include "io/bytes.h"

namespace ebb::npy {

/// Throws for how a stream begins that is none of zip's: whatever stands before an archive is not long.
void check_npz_start(std::string_view start);

/// Whether the bytes are a zip archive of arrays alone.
bool holds_arrays(const std::shared_ptr<const io::Bytes>& bytes);

}  // namespace ebb::npy
