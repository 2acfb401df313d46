// The elementwise driver of the CPU. An op provides a loop over one contiguous row. The driver handles
// strides, broadcasting and threads.
#pragma once

#include "kernel/call/kernel_traits.h"

namespace ebb::cpu {

using Row = ebb::detail::ElementRow::Function;

/// Properties of a row function that the driver's plan depends on.
struct RowTraits {
  bool takes_constants = true;  // otherwise the driver expands constants into a buffer
  std::int64_t grain = 32768;   // the least number of elements for which waking a thread is worthwhile
};

/// The maximum number of inputs of an elementwise op.
constexpr int kMaxMapInputs = 3;

/// Runs `row` over `out` and the inputs, which are broadcast to out's shape. Strides and dtypes are
/// arbitrary. Only the row function depends on the dtypes. Results do not depend on the layout or on the
/// number of threads.
void map(const char* name, NdArray& out, const NdArray* const* in, int inputs, Row row, const void* op,
         RowTraits traits = {});

}  // namespace ebb::cpu
