// The CPU's elementwise driver: an op brings a loop over one contiguous row, the driver does the rest.
#pragma once

#include "kernel/kernel_traits.h"

namespace ebb::cpu {

using Row = ebb::detail::ElementRow::Function;

/// What a row is like, for the driver to plan with.
struct RowTraits {
  bool takes_constants = true;  // else the driver writes constants out into a buffer
  std::int64_t grain = 32768;   // elements worth waking a thread for
};

/// Most inputs an elementwise op can have.
constexpr int kMaxMapInputs = 3;

/// Runs `row` over `out` and the inputs, which broadcast to out's shape; any strides, any dtypes (the row
/// knows them). Values do not depend on the layout or on the number of threads.
void map(const char* name, NdArray& out, const NdArray* const* in, int inputs, Row row, const void* op,
         RowTraits traits = {});

}  // namespace ebb::cpu
