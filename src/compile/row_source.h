// Calls of a tape whose results can be made in parts, for rows that go on with them.
#pragma once

#include "compile/tape.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ebb::compiling {

/// A call that makes some whole units of its elements at a time. An element's value does not depend on how
/// many.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// What it writes all of, and what it reads; some may be undefined.
  virtual const NdArray& out() const = 0;
  virtual std::vector<const NdArray*> reads() const = 0;
  /// Elements of a unit, and units of a block.
  virtual std::int64_t unit() const = 0;
  virtual std::int64_t units() const = 0;
  /// Elements whose making is worth waking a thread for.
  virtual std::int64_t grain() const = 0;
  /// Makes units [first, last), to `to`.
  virtual void bring(std::int64_t first, std::int64_t last, std::byte* to) const = 0;
};

/// The call as a source, if it can be had in parts and has so many that it is worth while; else null. It
/// refers to the call.
std::unique_ptr<RowSource> row_source(const TapeCall& call);
std::unique_ptr<RowSource> product_source(const TapeCall& call);
std::unique_ptr<RowSource> pooling_source(const TapeCall& call);

/// Sources whose results elementwise calls are the first to read go right before those.
void delay_sources(Tape& tape);

/// Memory of somebody else as a contiguous array.
NdArray array_at(std::byte* data, const DimVector& sizes, DType dtype);

}  // namespace ebb::compiling
