// Bodies of the methods of Variable that join, split and rearrange.
#pragma once

#include <ebb/ops/shape/join.h>
#include <ebb/ops/shape/rearrange.h>
#include <ebb/ops/shape/view_methods.h>

namespace ebb::ops {

inline Variable ShapeMethods::repeat(IntArrayRef repeats) const {
  return ebb::repeat(detail::self(this), repeats);
}
inline Variable ShapeMethods::tile(IntArrayRef dims) const { return ebb::tile(detail::self(this), dims); }
inline Variable ShapeMethods::repeat_interleave(std::int64_t repeats, optional<std::int64_t> dim,
                                                optional<std::int64_t> output_size) const {
  return ebb::repeat_interleave(detail::self(this), repeats, dim, output_size);
}
inline Variable ShapeMethods::repeat_interleave(const Variable& repeats, optional<std::int64_t> dim,
                                                optional<std::int64_t> output_size) const {
  return ebb::repeat_interleave(detail::self(this), repeats, dim, output_size);
}
inline Variable ShapeMethods::flip(IntArrayRef dims) const { return ebb::flip(detail::self(this), dims); }
inline Variable ShapeMethods::fliplr() const { return ebb::fliplr(detail::self(this)); }
inline Variable ShapeMethods::flipud() const { return ebb::flipud(detail::self(this)); }
inline Variable ShapeMethods::roll(IntArrayRef shifts, IntArrayRef dims) const {
  return ebb::roll(detail::self(this), shifts, dims);
}
inline Variable ShapeMethods::rot90(std::int64_t k, IntArrayRef dims) const {
  return ebb::rot90(detail::self(this), k, dims);
}
inline Variable ShapeMethods::tril(std::int64_t diagonal) const {
  return ebb::tril(detail::self(this), diagonal);
}
inline Variable ShapeMethods::triu(std::int64_t diagonal) const {
  return ebb::triu(detail::self(this), diagonal);
}
inline Variable& ShapeMethods::tril_(std::int64_t diagonal) const {
  return ebb::tril_(detail::self(this), diagonal);
}
inline Variable& ShapeMethods::triu_(std::int64_t diagonal) const {
  return ebb::triu_(detail::self(this), diagonal);
}
inline Variable ShapeMethods::diag(std::int64_t diagonal) const {
  return ebb::diag(detail::self(this), diagonal);
}
inline Variable ShapeMethods::diag_embed(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return ebb::diag_embed(detail::self(this), offset, dim1, dim2);
}
inline Variable ShapeMethods::diagflat(std::int64_t offset) const {
  return ebb::diagflat(detail::self(this), offset);
}
inline Variable& ShapeMethods::fill_diagonal_(const Scalar& fill_value, bool wrap) const {
  return ebb::fill_diagonal_(detail::self(this), fill_value, wrap);
}
inline Variable ShapeMethods::select_scatter(const Variable& src, std::int64_t dim,
                                             std::int64_t index) const {
  return ebb::select_scatter(detail::self(this), src, dim, index);
}
inline Variable ShapeMethods::slice_scatter(const Variable& src, std::int64_t dim,
                                            optional<std::int64_t> start, optional<std::int64_t> end,
                                            std::int64_t step) const {
  return ebb::slice_scatter(detail::self(this), src, dim, start, end, step);
}
inline Variable ShapeMethods::diagonal_scatter(const Variable& src, std::int64_t offset, std::int64_t dim1,
                                               std::int64_t dim2) const {
  return ebb::diagonal_scatter(detail::self(this), src, offset, dim1, dim2);
}
inline std::vector<Variable> ShapeMethods::split(std::int64_t split_size, std::int64_t dim) const {
  return ebb::split(detail::self(this), split_size, dim);
}
inline std::vector<Variable> ShapeMethods::split(IntArrayRef split_sizes, std::int64_t dim) const {
  return ebb::split(detail::self(this), split_sizes, dim);
}
inline std::vector<Variable> ShapeMethods::split_with_sizes(IntArrayRef split_sizes, std::int64_t dim) const {
  return ebb::split_with_sizes(detail::self(this), split_sizes, dim);
}
inline std::vector<Variable> ShapeMethods::unsafe_split(std::int64_t split_size, std::int64_t dim) const {
  return ebb::unsafe_split(detail::self(this), split_size, dim);
}
inline std::vector<Variable> ShapeMethods::unsafe_split_with_sizes(IntArrayRef split_sizes,
                                                                   std::int64_t dim) const {
  return ebb::unsafe_split_with_sizes(detail::self(this), split_sizes, dim);
}
inline std::vector<Variable> ShapeMethods::chunk(std::int64_t chunks, std::int64_t dim) const {
  return ebb::chunk(detail::self(this), chunks, dim);
}
inline std::vector<Variable> ShapeMethods::unsafe_chunk(std::int64_t chunks, std::int64_t dim) const {
  return ebb::unsafe_chunk(detail::self(this), chunks, dim);
}
inline std::vector<Variable> ShapeMethods::unbind(std::int64_t dim) const {
  return ebb::unbind(detail::self(this), dim);
}
inline std::vector<Variable> ShapeMethods::tensor_split(std::int64_t sections, std::int64_t dim) const {
  return ebb::tensor_split(detail::self(this), sections, dim);
}
inline std::vector<Variable> ShapeMethods::tensor_split(IntArrayRef indices, std::int64_t dim) const {
  return ebb::tensor_split(detail::self(this), indices, dim);
}
inline std::vector<Variable> ShapeMethods::tensor_split(const Variable& indices_or_sections,
                                                        std::int64_t dim) const {
  return ebb::tensor_split(detail::self(this), indices_or_sections, dim);
}
inline std::vector<Variable> ShapeMethods::hsplit(std::int64_t sections) const {
  return ebb::hsplit(detail::self(this), sections);
}
inline std::vector<Variable> ShapeMethods::hsplit(IntArrayRef indices) const {
  return ebb::hsplit(detail::self(this), indices);
}
inline std::vector<Variable> ShapeMethods::vsplit(std::int64_t sections) const {
  return ebb::vsplit(detail::self(this), sections);
}
inline std::vector<Variable> ShapeMethods::vsplit(IntArrayRef indices) const {
  return ebb::vsplit(detail::self(this), indices);
}
inline std::vector<Variable> ShapeMethods::dsplit(std::int64_t sections) const {
  return ebb::dsplit(detail::self(this), sections);
}
inline std::vector<Variable> ShapeMethods::dsplit(IntArrayRef indices) const {
  return ebb::dsplit(detail::self(this), indices);
}

}  // namespace ebb::ops
