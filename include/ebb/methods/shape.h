// ShapeMethods: methods of Variable that view, rearrange, copy and convert tensors, and that create tensors
// of the same kind; documented with the functions of the same names in ebb/ops/shape/ and ebb/ops/creation/.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/dtype.h>
#include <ebb/core/options.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <cstdint>
#include <vector>

namespace ebb {
class StorageHandle;
template <class T>
class MaybeOwned;
}  // namespace ebb

namespace ebb::ops {

struct EBB_API ShapeMethods {
  // Views, joins and rearranged elements.
  Variable as_strided(IntArrayRef size, IntArrayRef stride,
                      optional<std::int64_t> storage_offset = nullopt) const;
  Variable& as_strided_(IntArrayRef size, IntArrayRef stride,
                        optional<std::int64_t> storage_offset = nullopt) const;
  Variable view(IntArrayRef size) const;
  Variable view(DType dtype) const;
  Variable view_as(const Variable& other) const;
  Variable reshape(IntArrayRef shape) const;
  Variable reshape_as(const Variable& other) const;
  Variable flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1) const;
  Variable unflatten(std::int64_t dim, IntArrayRef sizes) const;
  Variable ravel() const;
  Variable transpose(std::int64_t dim0, std::int64_t dim1) const;
  Variable& transpose_(std::int64_t dim0, std::int64_t dim1) const;
  Variable swapaxes(std::int64_t axis0, std::int64_t axis1) const;
  Variable& swapaxes_(std::int64_t axis0, std::int64_t axis1) const;
  Variable swapdims(std::int64_t dim0, std::int64_t dim1) const;
  Variable& swapdims_(std::int64_t dim0, std::int64_t dim1) const;
  Variable t() const;
  Variable& t_() const;
  Variable numpy_T() const;
  /// Swap the last two dimensions (the transpose of each matrix).
  Variable mT() const;
  Variable mH() const;
  Variable adjoint() const;
  Variable alias() const;
  Variable permute(IntArrayRef dims) const;
  Variable movedim(IntArrayRef source, IntArrayRef destination) const;
  Variable movedim(std::int64_t source, std::int64_t destination) const;
  Variable moveaxis(IntArrayRef source, IntArrayRef destination) const;
  Variable moveaxis(std::int64_t source, std::int64_t destination) const;
  Variable squeeze() const;
  Variable squeeze(std::int64_t dim) const;
  Variable squeeze(IntArrayRef dims) const;
  Variable& squeeze_() const;
  Variable& squeeze_(std::int64_t dim) const;
  Variable& squeeze_(IntArrayRef dims) const;
  Variable unsqueeze(std::int64_t dim) const;
  Variable& unsqueeze_(std::int64_t dim) const;
  Variable expand(IntArrayRef size, bool implicit = false) const;
  Variable expand_as(const Variable& other) const;
  Variable broadcast_to(IntArrayRef size) const;
  Variable select(std::int64_t dim, std::int64_t index) const;
  Variable slice(std::int64_t dim = 0, optional<std::int64_t> start = nullopt,
                 optional<std::int64_t> end = nullopt, std::int64_t step = 1) const;
  Variable narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  Variable narrow_copy(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  Variable narrow(std::int64_t dim, const Variable& start, std::int64_t length) const;
  Variable diagonal(std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1) const;
  Variable unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const;
  Variable sum_to_size(IntArrayRef size) const;
  Variable& resize_(IntArrayRef size, optional<MemoryFormat> memory_format = nullopt) const;
  Variable& resize_as_(const Variable& other, optional<MemoryFormat> memory_format = nullopt) const;
  bool is_same_size(const Variable& other) const;
  Variable repeat(IntArrayRef repeats) const;
  Variable tile(IntArrayRef dims) const;
  Variable repeat_interleave(std::int64_t repeats, optional<std::int64_t> dim = nullopt,
                             optional<std::int64_t> output_size = nullopt) const;
  Variable repeat_interleave(const Variable& repeats, optional<std::int64_t> dim = nullopt,
                             optional<std::int64_t> output_size = nullopt) const;
  Variable flip(IntArrayRef dims) const;
  Variable fliplr() const;
  Variable flipud() const;
  Variable roll(IntArrayRef shifts, IntArrayRef dims = {}) const;
  Variable rot90(std::int64_t k = 1, IntArrayRef dims = {0, 1}) const;
  Variable tril(std::int64_t diagonal = 0) const;
  Variable triu(std::int64_t diagonal = 0) const;
  Variable& tril_(std::int64_t diagonal = 0) const;
  Variable& triu_(std::int64_t diagonal = 0) const;
  Variable diag(std::int64_t diagonal = 0) const;
  Variable diag_embed(std::int64_t offset = 0, std::int64_t dim1 = -2, std::int64_t dim2 = -1) const;
  Variable diagflat(std::int64_t offset = 0) const;
  Variable& fill_diagonal_(const Scalar& fill_value, bool wrap = false) const;
  Variable select_scatter(const Variable& src, std::int64_t dim, std::int64_t index) const;
  Variable slice_scatter(const Variable& src, std::int64_t dim = 0, optional<std::int64_t> start = nullopt,
                         optional<std::int64_t> end = nullopt, std::int64_t step = 1) const;
  Variable diagonal_scatter(const Variable& src, std::int64_t offset = 0, std::int64_t dim1 = 0,
                            std::int64_t dim2 = 1) const;
  Variable as_strided_scatter(const Variable& src, IntArrayRef size, IntArrayRef stride,
                              optional<std::int64_t> storage_offset = nullopt) const;
  std::vector<Variable> split(std::int64_t split_size, std::int64_t dim = 0) const;
  std::vector<Variable> split(IntArrayRef split_sizes, std::int64_t dim = 0) const;
  std::vector<Variable> split_with_sizes(IntArrayRef split_sizes, std::int64_t dim = 0) const;
  std::vector<Variable> unsafe_split(std::int64_t split_size, std::int64_t dim = 0) const;
  std::vector<Variable> unsafe_split_with_sizes(IntArrayRef split_sizes, std::int64_t dim = 0) const;
  std::vector<Variable> chunk(std::int64_t chunks, std::int64_t dim = 0) const;
  std::vector<Variable> unsafe_chunk(std::int64_t chunks, std::int64_t dim = 0) const;
  std::vector<Variable> unbind(std::int64_t dim = 0) const;
  std::vector<Variable> tensor_split(std::int64_t sections, std::int64_t dim = 0) const;
  std::vector<Variable> tensor_split(IntArrayRef indices, std::int64_t dim = 0) const;
  std::vector<Variable> tensor_split(const Variable& indices_or_sections, std::int64_t dim = 0) const;
  std::vector<Variable> hsplit(std::int64_t sections) const;
  std::vector<Variable> hsplit(IntArrayRef indices) const;
  std::vector<Variable> vsplit(std::int64_t sections) const;
  std::vector<Variable> vsplit(IntArrayRef indices) const;
  std::vector<Variable> dsplit(std::int64_t sections) const;
  std::vector<Variable> dsplit(IntArrayRef indices) const;

  // Copies, conversions and fills.
  Variable clone(optional<MemoryFormat> memory_format = nullopt) const;
  Variable contiguous(MemoryFormat memory_format = MemoryFormat::Contiguous) const;
  Variable to(const TensorOptions& options = {}, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(DType dtype, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(TypeMeta dtype, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(Device device, DType dtype, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(const Variable& other, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(optional<DType> dtype, optional<Layout> layout, optional<Device> device,
              optional<bool> pin_memory, bool non_blocking, bool copy,
              optional<MemoryFormat> memory_format) const;
  Variable toType(DType dtype) const;
  Variable type_as(const Variable& other) const;
  Variable cpu() const;
  Variable cuda() const;
  /// Returns whether the memory is page-locked, so that a device copies asynchronously from and to it.
  bool is_pinned() const;
  /// Returns a copy in page-locked memory, or the tensor itself if it is page-locked. Throws unless the
  /// tensor is on the CPU and there is a CUDA device.
  Variable pin_memory() const;
  /// Records that a stream other than the one that created the tensor uses it. When the tensor is freed, its
  /// memory is reused only after all work that was queued on `stream` before the free is done. Throws for CPU
  /// tensors that are not pinned.
  void record_stream(const cuda::Stream& stream) const;
  Variable& copy_(const Variable& src, bool non_blocking = false) const;
  Variable& fill_(const Scalar& value) const;
  Variable& fill_(const Variable& value) const;
  Variable& zero_() const;

  // New tensors of the same kind.
  Variable new_empty(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Variable new_empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {}) const;
  Variable new_zeros(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Variable new_ones(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Variable new_full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {}) const;
  // dtype, layout, device and pinning as separate arguments, as in ebb/ops/aten_factories.h.
  Variable new_empty(IntArrayRef sizes, optional<DType> dtype, optional<Layout> layout,
                     optional<Device> device, optional<bool> pin_memory) const;
  Variable new_empty_strided(IntArrayRef sizes, IntArrayRef strides, optional<DType> dtype,
                             optional<Layout> layout, optional<Device> device,
                             optional<bool> pin_memory) const;
  Variable new_zeros(IntArrayRef sizes, optional<DType> dtype, optional<Layout> layout,
                     optional<Device> device, optional<bool> pin_memory) const;
  Variable new_ones(IntArrayRef sizes, optional<DType> dtype, optional<Layout> layout,
                    optional<Device> device, optional<bool> pin_memory) const;
  Variable new_full(IntArrayRef sizes, const Scalar& value, optional<DType> dtype, optional<Layout> layout,
                    optional<Device> device, optional<bool> pin_memory) const;

  // The memory of the tensor, which other tensors may share.
  /// Returns the whole storage, of which this tensor may use only a part (Tensor.storage).
  StorageHandle storage() const;
  /// Returns whether the tensor has memory: true for every defined tensor (Tensor.has_storage).
  bool has_storage() const;
  /// Returns whether this tensor and `other` have the same storage, offset, sizes, strides and dtype
  /// (Tensor.is_set_to).
  bool is_set_to(const Variable& other) const;
  /// Makes this tensor refer to other memory. If `source` is a tensor, this tensor takes its memory, sizes
  /// and strides, and both must have the same dtype. If `source` is a storage, this tensor is a vector of all
  /// its elements, or has the given sizes, strides and offset (in elements). Without arguments this tensor
  /// becomes empty. The dtype does not change. Throws if the geometry exceeds the storage, for another
  /// device, and for a tensor whose gradient is recorded (Tensor.set_).
  Variable& set_(const Variable& source) const;
  Variable& set_(const StorageHandle& source) const;
  Variable& set_(const StorageHandle& source, std::int64_t storage_offset, IntArrayRef size,
                 IntArrayRef stride = {}) const;
  Variable& set_() const;
  /// Returns the memory format that matches the strides: ChannelsLast, ChannelsLast3d, or Contiguous for all
  /// others.
  MemoryFormat suggest_memory_format() const;
  /// Returns the tensor itself, borrowed, if it is contiguous, and otherwise a contiguous copy.
  MaybeOwned<Variable> expect_contiguous() const;
  /// Writes type and sizes, "[CPUFloatType [2, 3]]", to stderr.
  void print() const;
};

}  // namespace ebb::ops
