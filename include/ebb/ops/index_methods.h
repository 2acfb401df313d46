// Bodies of the methods of Variable of the index family.
#pragma once

#include <ebb/ops/index.h>
#include <ebb/ops/shape/views.h>

namespace ebb::ops {

namespace detail {
inline const Variable& self(const IndexMethods* methods) { return static_cast<const Variable&>(*methods); }
}  // namespace detail

inline Variable IndexMethods::gather(std::int64_t dim, const Variable& index, bool sparse_grad) const {
  return ebb::gather(detail::self(this), dim, index, sparse_grad);
}
inline Variable IndexMethods::scatter(std::int64_t dim, const Variable& index, const Variable& src) const {
  return ebb::scatter(detail::self(this), dim, index, src);
}
inline Variable IndexMethods::scatter(std::int64_t dim, const Variable& index, const Scalar& value) const {
  return ebb::scatter(detail::self(this), dim, index, value);
}
inline Variable IndexMethods::scatter(std::int64_t dim, const Variable& index, const Variable& src,
                                      std::string_view reduce) const {
  return ebb::scatter(detail::self(this), dim, index, src, reduce);
}
inline Variable IndexMethods::scatter(std::int64_t dim, const Variable& index, const Scalar& value,
                                      std::string_view reduce) const {
  return ebb::scatter(detail::self(this), dim, index, value, reduce);
}
inline Variable& IndexMethods::scatter_(std::int64_t dim, const Variable& index, const Variable& src) const {
  return ebb::scatter_(detail::self(this), dim, index, src);
}
inline Variable& IndexMethods::scatter_(std::int64_t dim, const Variable& index, const Scalar& value) const {
  return ebb::scatter_(detail::self(this), dim, index, value);
}
inline Variable& IndexMethods::scatter_(std::int64_t dim, const Variable& index, const Variable& src,
                                        std::string_view reduce) const {
  return ebb::scatter_(detail::self(this), dim, index, src, reduce);
}
inline Variable& IndexMethods::scatter_(std::int64_t dim, const Variable& index, const Scalar& value,
                                        std::string_view reduce) const {
  return ebb::scatter_(detail::self(this), dim, index, value, reduce);
}
inline Variable IndexMethods::scatter_add(std::int64_t dim, const Variable& index,
                                          const Variable& src) const {
  return ebb::scatter_add(detail::self(this), dim, index, src);
}
inline Variable& IndexMethods::scatter_add_(std::int64_t dim, const Variable& index,
                                            const Variable& src) const {
  return ebb::scatter_add_(detail::self(this), dim, index, src);
}
inline Variable IndexMethods::scatter_reduce(std::int64_t dim, const Variable& index, const Variable& src,
                                             std::string_view reduce, bool include_self) const {
  return ebb::scatter_reduce(detail::self(this), dim, index, src, reduce, include_self);
}
inline Variable& IndexMethods::scatter_reduce_(std::int64_t dim, const Variable& index, const Variable& src,
                                               std::string_view reduce, bool include_self) const {
  return ebb::scatter_reduce_(detail::self(this), dim, index, src, reduce, include_self);
}
inline Variable IndexMethods::index_select(std::int64_t dim, const Variable& index) const {
  return ebb::index_select(detail::self(this), dim, index);
}
inline Variable IndexMethods::index_add(std::int64_t dim, const Variable& index, const Variable& source,
                                        const Scalar& alpha) const {
  return ebb::index_add(detail::self(this), dim, index, source, alpha);
}
inline Variable& IndexMethods::index_add_(std::int64_t dim, const Variable& index, const Variable& source,
                                          const Scalar& alpha) const {
  return ebb::index_add_(detail::self(this), dim, index, source, alpha);
}
inline Variable IndexMethods::index_copy(std::int64_t dim, const Variable& index,
                                         const Variable& source) const {
  return ebb::index_copy(detail::self(this), dim, index, source);
}
inline Variable& IndexMethods::index_copy_(std::int64_t dim, const Variable& index,
                                           const Variable& source) const {
  return ebb::index_copy_(detail::self(this), dim, index, source);
}
inline Variable IndexMethods::index_fill(std::int64_t dim, const Variable& index, const Scalar& value) const {
  return ebb::index_fill(detail::self(this), dim, index, value);
}
inline Variable IndexMethods::index_fill(std::int64_t dim, const Variable& index,
                                         const Variable& value) const {
  return ebb::index_fill(detail::self(this), dim, index, value);
}
inline Variable& IndexMethods::index_fill_(std::int64_t dim, const Variable& index,
                                           const Scalar& value) const {
  return ebb::index_fill_(detail::self(this), dim, index, value);
}
inline Variable& IndexMethods::index_fill_(std::int64_t dim, const Variable& index,
                                           const Variable& value) const {
  return ebb::index_fill_(detail::self(this), dim, index, value);
}
inline Variable IndexMethods::masked_fill(const Variable& mask, const Scalar& value) const {
  return ebb::masked_fill(detail::self(this), mask, value);
}
inline Variable IndexMethods::masked_fill(const Variable& mask, const Variable& value) const {
  return ebb::masked_fill(detail::self(this), mask, value);
}
inline Variable& IndexMethods::masked_fill_(const Variable& mask, const Scalar& value) const {
  return ebb::masked_fill_(detail::self(this), mask, value);
}
inline Variable& IndexMethods::masked_fill_(const Variable& mask, const Variable& value) const {
  return ebb::masked_fill_(detail::self(this), mask, value);
}
inline Variable IndexMethods::masked_select(const Variable& mask) const {
  return ebb::masked_select(detail::self(this), mask);
}
inline Variable IndexMethods::masked_scatter(const Variable& mask, const Variable& source) const {
  return ebb::masked_scatter(detail::self(this), mask, source);
}
inline Variable& IndexMethods::masked_scatter_(const Variable& mask, const Variable& source) const {
  return ebb::masked_scatter_(detail::self(this), mask, source);
}
inline Variable IndexMethods::take(const Variable& index) const {
  return ebb::take(detail::self(this), index);
}
inline Variable IndexMethods::put(const Variable& index, const Variable& source, bool accumulate) const {
  return ebb::put(detail::self(this), index, source, accumulate);
}
inline Variable& IndexMethods::put_(const Variable& index, const Variable& source, bool accumulate) const {
  return ebb::put_(detail::self(this), index, source, accumulate);
}
inline Variable IndexMethods::take_along_dim(const Variable& indices, optional<std::int64_t> dim) const {
  return ebb::take_along_dim(detail::self(this), indices, dim);
}
inline Variable IndexMethods::nonzero() const { return ebb::nonzero(detail::self(this)); }
inline Variable IndexMethods::argwhere() const { return ebb::argwhere(detail::self(this)); }
inline std::vector<Variable> IndexMethods::nonzero_numpy() const {
  return ebb::nonzero_numpy(detail::self(this));
}

inline Variable IndexMethods::operator[](std::int64_t index) const {
  return ebb::select(detail::self(this), 0, index);
}
inline Variable IndexMethods::operator[](const Variable& index) const {
  return indexing::get_item(detail::self(this), indexing::TensorIndex(index));
}
inline Variable IndexMethods::index(ArrayRef<indexing::TensorIndex> indices) const {
  return indexing::get_item(detail::self(this), indices);
}
inline Variable IndexMethods::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return indexing::get_item(detail::self(this), indices);
}
inline Variable IndexMethods::index(const std::vector<indexing::TensorIndex>& indices) const {
  return indexing::get_item(detail::self(this), indices);
}
inline Variable& IndexMethods::index_put_(ArrayRef<indexing::TensorIndex> indices,
                                          const Variable& values) const {
  indexing::set_item(detail::self(this), indices, values);
  return const_cast<Variable&>(detail::self(this));
}
inline Variable& IndexMethods::index_put_(ArrayRef<indexing::TensorIndex> indices,
                                          const Scalar& value) const {
  indexing::set_item(detail::self(this), indices, value);
  return const_cast<Variable&>(detail::self(this));
}
inline Variable& IndexMethods::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                          const Variable& values, bool accumulate) const {
  indexing::set_item(detail::self(this), indices, values, accumulate);
  return const_cast<Variable&>(detail::self(this));
}
inline Variable& IndexMethods::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                          const Scalar& value) const {
  indexing::set_item(detail::self(this), indices, value);
  return const_cast<Variable&>(detail::self(this));
}
inline Variable IndexMethods::index_put(std::initializer_list<indexing::TensorIndex> indices,
                                        const Variable& values, bool accumulate) const {
  return indexing::put_item(detail::self(this), indices, values, accumulate);
}

}  // namespace ebb::ops
