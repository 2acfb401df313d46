// What max and mean pooling share.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/creation.h>

#include "ops/common/layout.h"
#include "ops/pool/geometry.h"

namespace ebb::ops {

/// The integers that a pooling takes besides floating numbers.
enum class PooledIntegers : std::uint8_t { none, only_long, all };

/// Checks the arguments of a pooling over `dims` axes; throws errors that name `op`.
PoolGeometry pool_geometry(const char* op, const Variable& x, int dims, IntArrayRef kernel,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode,
                           PooledIntegers integers = PooledIntegers::none);
PoolGeometry adaptive_geometry(const char* op, const Variable& x, int dims, IntArrayRef output_size);
/// The greatest of each window of whole numbers, and its place in the plane.
std::tuple<Variable, Variable> max_of_integers(const Variable& x, const PoolGeometry& g, int dims);
/// The result's shape.
DimVector pooled_shape(const Variable& x, const PoolGeometry& g, int dims);

/// The memory format of a layer's arrays, its gradients' too: channels-last where the layer's input is.
class PoolLayout {
 public:
  PoolLayout() = default;
  /// `x` as the user gave it to a pooling over `dims` axes; without a batch it has no channels-last format.
  PoolLayout(const Variable& x, int dims)
      : format_(x.dim() == dims + 2 ? suggested_format(x.array()) : MemoryFormat::Contiguous) {}

  /// What the kernels of x's device take: the elements of x in the layer's format, on the CPU contiguous.
  NdArray operand(const Variable& x) const;
  NdArray empty(IntArrayRef sizes, DType dtype, Device device) const;
  /// A kernel's result in the layer's format.
  Variable result(NdArray array) const;
  /// Tells the kernel how planes of these sizes lie in memory.
  std::int64_t interleaved(IntArrayRef sizes, Device device) const {
    return kernel_format(device) == MemoryFormat::Contiguous ? 1 : sizes[1];
  }

 private:
  MemoryFormat kernel_format(Device device) const {
    return device.is_cpu() ? MemoryFormat::Contiguous : format_;
  }
  MemoryFormat format_ = MemoryFormat::Contiguous;
};

/// Names of the nodes of one pooling: torch's, on the layer and on its gradient.
struct PoolNames {
  const char* layer;
  const char* gradient;
};

}  // namespace ebb::ops
