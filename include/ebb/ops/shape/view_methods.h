// Bodies of the methods of Variable that make views.
#pragma once

#include <ebb/ops/shape/views.h>

namespace ebb::ops {

namespace detail {
inline const Variable& self(const ShapeMethods* methods) { return static_cast<const Variable&>(*methods); }
}  // namespace detail

inline Variable ShapeMethods::as_strided(IntArrayRef size, IntArrayRef stride,
                                         optional<std::int64_t> offset) const {
  return ebb::as_strided(detail::self(this), size, stride, offset);
}
inline Variable& ShapeMethods::as_strided_(IntArrayRef size, IntArrayRef stride,
                                           optional<std::int64_t> offset) const {
  return ebb::as_strided_(detail::self(this), size, stride, offset);
}
inline Variable ShapeMethods::view(IntArrayRef size) const { return ebb::view(detail::self(this), size); }
inline Variable ShapeMethods::view(DType dtype) const { return ebb::view(detail::self(this), dtype); }
inline Variable ShapeMethods::view_as(const Variable& other) const {
  return ebb::view(detail::self(this), other.sizes());
}
inline Variable ShapeMethods::reshape(IntArrayRef shape) const {
  return ebb::reshape(detail::self(this), shape);
}
inline Variable ShapeMethods::reshape_as(const Variable& other) const {
  return ebb::reshape(detail::self(this), other.sizes());
}
inline Variable ShapeMethods::flatten(std::int64_t start_dim, std::int64_t end_dim) const {
  return ebb::flatten(detail::self(this), start_dim, end_dim);
}
inline Variable ShapeMethods::unflatten(std::int64_t dim, IntArrayRef sizes) const {
  return ebb::unflatten(detail::self(this), dim, sizes);
}
inline Variable ShapeMethods::ravel() const { return ebb::ravel(detail::self(this)); }
inline Variable ShapeMethods::transpose(std::int64_t dim0, std::int64_t dim1) const {
  return ebb::transpose(detail::self(this), dim0, dim1);
}
inline Variable& ShapeMethods::transpose_(std::int64_t dim0, std::int64_t dim1) const {
  return ebb::transpose_(detail::self(this), dim0, dim1);
}
inline Variable ShapeMethods::swapaxes(std::int64_t axis0, std::int64_t axis1) const {
  return transpose(axis0, axis1);
}
inline Variable& ShapeMethods::swapaxes_(std::int64_t axis0, std::int64_t axis1) const {
  return transpose_(axis0, axis1);
}
inline Variable ShapeMethods::swapdims(std::int64_t dim0, std::int64_t dim1) const {
  return transpose(dim0, dim1);
}
inline Variable& ShapeMethods::swapdims_(std::int64_t dim0, std::int64_t dim1) const {
  return transpose_(dim0, dim1);
}
inline Variable ShapeMethods::t() const { return ebb::t(detail::self(this)); }
inline Variable& ShapeMethods::t_() const { return ebb::t_(detail::self(this)); }
inline Variable ShapeMethods::numpy_T() const { return ebb::numpy_T(detail::self(this)); }
inline Variable ShapeMethods::mT() const { return transpose(-2, -1); }
inline Variable ShapeMethods::mH() const { return transpose(-2, -1); }
inline Variable ShapeMethods::adjoint() const { return transpose(-2, -1); }
inline Variable ShapeMethods::permute(IntArrayRef dims) const {
  return ebb::permute(detail::self(this), dims);
}
inline Variable ShapeMethods::movedim(IntArrayRef source, IntArrayRef destination) const {
  return ebb::movedim(detail::self(this), source, destination);
}
inline Variable ShapeMethods::movedim(std::int64_t source, std::int64_t destination) const {
  return ebb::movedim(detail::self(this), source, destination);
}
inline Variable ShapeMethods::moveaxis(IntArrayRef source, IntArrayRef destination) const {
  return ebb::movedim(detail::self(this), source, destination);
}
inline Variable ShapeMethods::moveaxis(std::int64_t source, std::int64_t destination) const {
  return ebb::movedim(detail::self(this), source, destination);
}
inline Variable ShapeMethods::squeeze() const { return ebb::squeeze(detail::self(this)); }
inline Variable ShapeMethods::squeeze(std::int64_t dim) const {
  return ebb::squeeze(detail::self(this), dim);
}
inline Variable& ShapeMethods::squeeze_() const { return ebb::squeeze_(detail::self(this)); }
inline Variable& ShapeMethods::squeeze_(std::int64_t dim) const {
  return ebb::squeeze_(detail::self(this), dim);
}
inline Variable ShapeMethods::unsqueeze(std::int64_t dim) const {
  return ebb::unsqueeze(detail::self(this), dim);
}
inline Variable& ShapeMethods::unsqueeze_(std::int64_t dim) const {
  return ebb::unsqueeze_(detail::self(this), dim);
}
inline Variable ShapeMethods::expand(IntArrayRef size, bool implicit) const {
  return ebb::expand(detail::self(this), size, implicit);
}
inline Variable ShapeMethods::expand_as(const Variable& other) const {
  return ebb::expand(detail::self(this), other.sizes());
}
inline Variable ShapeMethods::broadcast_to(IntArrayRef size) const {
  return ebb::broadcast_to(detail::self(this), size);
}
inline Variable ShapeMethods::select(std::int64_t dim, std::int64_t index) const {
  return ebb::select(detail::self(this), dim, index);
}
inline Variable ShapeMethods::slice(std::int64_t dim, optional<std::int64_t> start,
                                    optional<std::int64_t> end, std::int64_t step) const {
  return ebb::slice(detail::self(this), dim, start, end, step);
}
inline Variable ShapeMethods::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  return ebb::narrow(detail::self(this), dim, start, length);
}
inline Variable ShapeMethods::narrow_copy(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  return ebb::narrow_copy(detail::self(this), dim, start, length);
}
inline Variable ShapeMethods::narrow(std::int64_t dim, const Variable& start, std::int64_t length) const {
  return ebb::narrow(detail::self(this), dim, start, length);
}
inline Variable ShapeMethods::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return ebb::diagonal(detail::self(this), offset, dim1, dim2);
}
inline Variable ShapeMethods::unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const {
  return ebb::unfold(detail::self(this), dimension, size, step);
}
inline Variable ShapeMethods::sum_to_size(IntArrayRef size) const {
  return ebb::sum_to_size(detail::self(this), size);
}
inline Variable& ShapeMethods::resize_(IntArrayRef size) const {
  return ebb::resize_(detail::self(this), size);
}
inline Variable& ShapeMethods::resize_as_(const Variable& other) const { return resize_(other.sizes()); }
inline bool ShapeMethods::is_same_size(const Variable& other) const {
  return ebb::is_same_size(detail::self(this), other);
}

}  // namespace ebb::ops
