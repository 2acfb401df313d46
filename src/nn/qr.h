// Orthonormal columns.
#pragma once

#include <cstdint>

namespace ebb::nn {

/// Replaces a row-major rows x columns matrix (rows >= columns) by the Q of its QR decomposition with R's
/// diagonal made positive, which makes it unique.
void orthonormal_columns(double* matrix, std::int64_t rows, std::int64_t columns);

}  // namespace ebb::nn
