// Helpers of max and mean pooling: the windows, the memory format and the names of nodes.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/creation.h>

#include "ops/common/layout.h"
#include "ops/pool/geometry.h"

namespace ebb::ops {

/// The integer dtypes that a pooling accepts in addition to floating-point ones.
enum class PooledIntegers : std::uint8_t { none, only_long, all };

/// Checks the arguments of a pooling over `dims` axes. Errors name `op`.
PoolGeometry pool_geometry(const char* op, const Variable& x, int dims, IntArrayRef kernel,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode,
                           PooledIntegers integers = PooledIntegers::none);
PoolGeometry adaptive_geometry(const char* op, const Variable& x, int dims, IntArrayRef output_size);
/// Returns the shape of the result.
DimVector pooled_shape(const Variable& x, const PoolGeometry& g, int dims);

/// The memory format of a layer's arrays and gradients. It is channels-last if the layer's input is
/// channels-last.
class PoolLayout {
 public:
  PoolLayout() = default;
  /// `x` is the argument of a pooling over `dims` axes. Without a batch it has no channels-last format.
  PoolLayout(const Variable& x, int dims)
      : format_(x.dim() == dims + 2 ? suggested_format(x.array()) : MemoryFormat::Contiguous) {}

  /// Returns x for a kernel of its device: in the layer's format, or contiguous on the CPU.
  NdArray operand(const Variable& x) const;
  NdArray empty(IntArrayRef sizes, DType dtype, Device device) const;
  /// Returns a kernel's result in the layer's format.
  Variable result(NdArray array) const;
  /// Returns the number of interleaved planes, for PoolPlanes.
  std::int64_t interleaved(IntArrayRef sizes, Device device) const {
    return kernel_format(device) == MemoryFormat::Contiguous ? 1 : sizes[1];
  }

 private:
  MemoryFormat kernel_format(Device device) const {
    return device.is_cpu() ? MemoryFormat::Contiguous : format_;
  }
  MemoryFormat format_ = MemoryFormat::Contiguous;
};

/// Names of the nodes of a pooling, as in torch: the node of the layer and the node of its gradient.
struct PoolNames {
  const char* layer;
  const char* gradient;
};

}  // namespace ebb::ops
