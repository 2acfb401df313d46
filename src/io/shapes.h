// read_shapes: readers of PyTorch and NumPy files that skip the elements of tensors.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>

#include <string>
#include <utility>

namespace ebb {

namespace io {
/// Returns a contiguous array of this shape and dtype without memory. Its elements must not be read.
inline NdArray shape_alone(const DimVector& sizes, DType dtype) {
  const auto bytes = static_cast<std::size_t>(checked_numel(sizes) * element_size(dtype));
  return {Storage::adopt(nullptr, bytes, Device::CPU, nullptr, nullptr), sizes, contiguous_strides(sizes), 0,
          dtype};
}
}  // namespace io

namespace pytorch {
/// Reads a file like read(path), but the tensors have only dtype, sizes and strides. Checksums of storages
/// are not checked.
EBB_API Value read_shapes(const std::string& path);
}  // namespace pytorch

namespace npy {
/// Read files like read(path) and read_npz(path), but the tensors have only dtype and sizes.
EBB_API Variable read_shape(const std::string& path);
EBB_API NamedTensors read_npz_shapes(const std::string& path);
}  // namespace npy

}  // namespace ebb
