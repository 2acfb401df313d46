// Several calls of a tape that run together.
#pragma once

#include <ebb/core/device.h>

#include <cstddef>

namespace ebb::compiling {

/// Bytes rounded up to whole lines of the cache.
inline std::size_t to_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// What stands for them: rows of the CPU, or a kernel of a device.
class StepProgram {
 public:
  StepProgram() = default;
  virtual ~StepProgram() = default;
  StepProgram(const StepProgram&) = delete;
  StepProgram& operator=(const StepProgram&) = delete;

  /// Memory that a run works in, and where; on the CPU for the number of threads there are now.
  virtual std::size_t work_bytes() const { return 0; }
  virtual Device work_device() const { return kCPU; }
  virtual void run(std::byte* work) const = 0;
};

}  // namespace ebb::compiling
