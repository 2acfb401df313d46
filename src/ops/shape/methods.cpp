// Bodies of the methods that view, rearrange, split and repeat: each calls the function of the same name.
#include <ebb/ops/shape/join.h>
#include <ebb/ops/shape/rearrange.h>
#include <ebb/ops/shape/views.h>

#include "ops/common/record.h"

namespace ebb::ops {

Variable ShapeMethods::as_strided(IntArrayRef size, IntArrayRef stride, optional<std::int64_t> offset) const {
  return ebb::as_strided(self(this), size, stride, offset);
}
Variable& ShapeMethods::as_strided_(IntArrayRef size, IntArrayRef stride,
                                    optional<std::int64_t> offset) const {
  return ebb::as_strided_(self(this), size, stride, offset);
}
Variable ShapeMethods::view(IntArrayRef size) const { return ebb::view(self(this), size); }
Variable ShapeMethods::view(DType dtype) const { return ebb::view(self(this), dtype); }
Variable ShapeMethods::view_as(const Variable& other) const { return ebb::view(self(this), other.sizes()); }
Variable ShapeMethods::reshape(IntArrayRef shape) const { return ebb::reshape(self(this), shape); }
Variable ShapeMethods::reshape_as(const Variable& other) const {
  return ebb::reshape(self(this), other.sizes());
}
Variable ShapeMethods::flatten(std::int64_t start_dim, std::int64_t end_dim) const {
  return ebb::flatten(self(this), start_dim, end_dim);
}
Variable ShapeMethods::unflatten(std::int64_t dim, IntArrayRef sizes) const {
  return ebb::unflatten(self(this), dim, sizes);
}
Variable ShapeMethods::ravel() const { return ebb::ravel(self(this)); }
Variable ShapeMethods::transpose(std::int64_t dim0, std::int64_t dim1) const {
  return ebb::transpose(self(this), dim0, dim1);
}
Variable& ShapeMethods::transpose_(std::int64_t dim0, std::int64_t dim1) const {
  return ebb::transpose_(self(this), dim0, dim1);
}
Variable ShapeMethods::swapaxes(std::int64_t axis0, std::int64_t axis1) const {
  return transpose(axis0, axis1);
}
Variable& ShapeMethods::swapaxes_(std::int64_t axis0, std::int64_t axis1) const {
  return transpose_(axis0, axis1);
}
Variable ShapeMethods::swapdims(std::int64_t dim0, std::int64_t dim1) const { return transpose(dim0, dim1); }
Variable& ShapeMethods::swapdims_(std::int64_t dim0, std::int64_t dim1) const {
  return transpose_(dim0, dim1);
}
Variable ShapeMethods::t() const { return ebb::t(self(this)); }
Variable& ShapeMethods::t_() const { return ebb::t_(self(this)); }
Variable ShapeMethods::numpy_T() const { return ebb::numpy_T(self(this)); }
// A 0-d tensor has no dimensions to swap.
Variable ShapeMethods::mT() const { return self(this).dim() == 0 ? alias() : transpose(-2, -1); }
Variable ShapeMethods::mH() const { return mT(); }
Variable ShapeMethods::adjoint() const { return mT(); }
Variable ShapeMethods::alias() const { return ebb::alias(self(this)); }
Variable ShapeMethods::permute(IntArrayRef dims) const { return ebb::permute(self(this), dims); }
Variable ShapeMethods::movedim(IntArrayRef source, IntArrayRef destination) const {
  return ebb::movedim(self(this), source, destination);
}
Variable ShapeMethods::movedim(std::int64_t source, std::int64_t destination) const {
  return ebb::movedim(self(this), source, destination);
}
Variable ShapeMethods::moveaxis(IntArrayRef source, IntArrayRef destination) const {
  return ebb::movedim(self(this), source, destination);
}
Variable ShapeMethods::moveaxis(std::int64_t source, std::int64_t destination) const {
  return ebb::movedim(self(this), source, destination);
}
Variable ShapeMethods::squeeze() const { return ebb::squeeze(self(this)); }
Variable ShapeMethods::squeeze(std::int64_t dim) const { return ebb::squeeze(self(this), dim); }
Variable ShapeMethods::squeeze(IntArrayRef dims) const { return ebb::squeeze(self(this), dims); }
Variable& ShapeMethods::squeeze_(IntArrayRef dims) const { return ebb::squeeze_(self(this), dims); }
Variable& ShapeMethods::squeeze_() const { return ebb::squeeze_(self(this)); }
Variable& ShapeMethods::squeeze_(std::int64_t dim) const { return ebb::squeeze_(self(this), dim); }
Variable ShapeMethods::unsqueeze(std::int64_t dim) const { return ebb::unsqueeze(self(this), dim); }
Variable& ShapeMethods::unsqueeze_(std::int64_t dim) const { return ebb::unsqueeze_(self(this), dim); }
Variable ShapeMethods::expand(IntArrayRef size, bool implicit) const {
  return ebb::expand(self(this), size, implicit);
}
Variable ShapeMethods::expand_as(const Variable& other) const {
  return ebb::expand(self(this), other.sizes());
}
Variable ShapeMethods::broadcast_to(IntArrayRef size) const { return ebb::broadcast_to(self(this), size); }
Variable ShapeMethods::select(std::int64_t dim, std::int64_t index) const {
  return ebb::select(self(this), dim, index);
}
Variable ShapeMethods::slice(std::int64_t dim, optional<std::int64_t> start, optional<std::int64_t> end,
                             std::int64_t step) const {
  return ebb::slice(self(this), dim, start, end, step);
}
Variable ShapeMethods::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  return ebb::narrow(self(this), dim, start, length);
}
Variable ShapeMethods::narrow(std::int64_t dim, const Variable& start, std::int64_t length) const {
  return ebb::narrow(self(this), dim, start, length);
}
Variable ShapeMethods::narrow_copy(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  return ebb::narrow_copy(self(this), dim, start, length);
}
Variable ShapeMethods::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return ebb::diagonal(self(this), offset, dim1, dim2);
}
Variable ShapeMethods::unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const {
  return ebb::unfold(self(this), dimension, size, step);
}
Variable ShapeMethods::sum_to_size(IntArrayRef size) const { return ebb::sum_to_size(self(this), size); }
Variable& ShapeMethods::resize_(IntArrayRef size, optional<MemoryFormat> memory_format) const {
  return ebb::resize_(self(this), size, memory_format);
}
Variable& ShapeMethods::resize_as_(const Variable& other, optional<MemoryFormat> memory_format) const {
  return resize_(other.sizes(),
                 memory_format == MemoryFormat::Preserve ? other.suggest_memory_format() : memory_format);
}
Variable ShapeMethods::as_strided_scatter(const Variable& src, IntArrayRef size, IntArrayRef stride,
                                          optional<std::int64_t> storage_offset) const {
  return ebb::as_strided_scatter(self(this), src, size, stride, storage_offset);
}
bool ShapeMethods::is_same_size(const Variable& other) const { return ebb::is_same_size(self(this), other); }
Variable ShapeMethods::repeat(IntArrayRef repeats) const { return ebb::repeat(self(this), repeats); }
Variable ShapeMethods::tile(IntArrayRef dims) const { return ebb::tile(self(this), dims); }
Variable ShapeMethods::repeat_interleave(std::int64_t repeats, optional<std::int64_t> dim,
                                         optional<std::int64_t> output_size) const {
  return ebb::repeat_interleave(self(this), repeats, dim, output_size);
}
Variable ShapeMethods::repeat_interleave(const Variable& repeats, optional<std::int64_t> dim,
                                         optional<std::int64_t> output_size) const {
  return ebb::repeat_interleave(self(this), repeats, dim, output_size);
}
Variable ShapeMethods::flip(IntArrayRef dims) const { return ebb::flip(self(this), dims); }
Variable ShapeMethods::fliplr() const { return ebb::fliplr(self(this)); }
Variable ShapeMethods::flipud() const { return ebb::flipud(self(this)); }
Variable ShapeMethods::roll(IntArrayRef shifts, IntArrayRef dims) const {
  return ebb::roll(self(this), shifts, dims);
}
Variable ShapeMethods::rot90(std::int64_t k, IntArrayRef dims) const {
  return ebb::rot90(self(this), k, dims);
}
Variable ShapeMethods::tril(std::int64_t diagonal) const { return ebb::tril(self(this), diagonal); }
Variable ShapeMethods::triu(std::int64_t diagonal) const { return ebb::triu(self(this), diagonal); }
Variable& ShapeMethods::tril_(std::int64_t diagonal) const { return ebb::tril_(self(this), diagonal); }
Variable& ShapeMethods::triu_(std::int64_t diagonal) const { return ebb::triu_(self(this), diagonal); }
Variable ShapeMethods::diag(std::int64_t diagonal) const { return ebb::diag(self(this), diagonal); }
Variable ShapeMethods::diag_embed(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return ebb::diag_embed(self(this), offset, dim1, dim2);
}
Variable ShapeMethods::diagflat(std::int64_t offset) const { return ebb::diagflat(self(this), offset); }
Variable& ShapeMethods::fill_diagonal_(const Scalar& fill_value, bool wrap) const {
  return ebb::fill_diagonal_(self(this), fill_value, wrap);
}
Variable ShapeMethods::select_scatter(const Variable& src, std::int64_t dim, std::int64_t index) const {
  return ebb::select_scatter(self(this), src, dim, index);
}
Variable ShapeMethods::slice_scatter(const Variable& src, std::int64_t dim, optional<std::int64_t> start,
                                     optional<std::int64_t> end, std::int64_t step) const {
  return ebb::slice_scatter(self(this), src, dim, start, end, step);
}
Variable ShapeMethods::diagonal_scatter(const Variable& src, std::int64_t offset, std::int64_t dim1,
                                        std::int64_t dim2) const {
  return ebb::diagonal_scatter(self(this), src, offset, dim1, dim2);
}
std::vector<Variable> ShapeMethods::split(std::int64_t split_size, std::int64_t dim) const {
  return ebb::split(self(this), split_size, dim);
}
std::vector<Variable> ShapeMethods::split(IntArrayRef split_sizes, std::int64_t dim) const {
  return ebb::split(self(this), split_sizes, dim);
}
std::vector<Variable> ShapeMethods::split_with_sizes(IntArrayRef split_sizes, std::int64_t dim) const {
  return ebb::split_with_sizes(self(this), split_sizes, dim);
}
std::vector<Variable> ShapeMethods::unsafe_split(std::int64_t split_size, std::int64_t dim) const {
  return ebb::unsafe_split(self(this), split_size, dim);
}
std::vector<Variable> ShapeMethods::unsafe_split_with_sizes(IntArrayRef split_sizes, std::int64_t dim) const {
  return ebb::unsafe_split_with_sizes(self(this), split_sizes, dim);
}
std::vector<Variable> ShapeMethods::chunk(std::int64_t chunks, std::int64_t dim) const {
  return ebb::chunk(self(this), chunks, dim);
}
std::vector<Variable> ShapeMethods::unsafe_chunk(std::int64_t chunks, std::int64_t dim) const {
  return ebb::unsafe_chunk(self(this), chunks, dim);
}
std::vector<Variable> ShapeMethods::unbind(std::int64_t dim) const { return ebb::unbind(self(this), dim); }
std::vector<Variable> ShapeMethods::tensor_split(std::int64_t sections, std::int64_t dim) const {
  return ebb::tensor_split(self(this), sections, dim);
}
std::vector<Variable> ShapeMethods::tensor_split(IntArrayRef indices, std::int64_t dim) const {
  return ebb::tensor_split(self(this), indices, dim);
}
std::vector<Variable> ShapeMethods::tensor_split(const Variable& indices_or_sections,
                                                 std::int64_t dim) const {
  return ebb::tensor_split(self(this), indices_or_sections, dim);
}
std::vector<Variable> ShapeMethods::hsplit(std::int64_t sections) const {
  return ebb::hsplit(self(this), sections);
}
std::vector<Variable> ShapeMethods::hsplit(IntArrayRef indices) const {
  return ebb::hsplit(self(this), indices);
}
std::vector<Variable> ShapeMethods::vsplit(std::int64_t sections) const {
  return ebb::vsplit(self(this), sections);
}
std::vector<Variable> ShapeMethods::vsplit(IntArrayRef indices) const {
  return ebb::vsplit(self(this), indices);
}
std::vector<Variable> ShapeMethods::dsplit(std::int64_t sections) const {
  return ebb::dsplit(self(this), sections);
}
std::vector<Variable> ShapeMethods::dsplit(IntArrayRef indices) const {
  return ebb::dsplit(self(this), indices);
}

}  // namespace ebb::ops
