// Bodies of the methods that index, sort and count: each calls the function of the same name.
#include <ebb/ops/index.h>
#include <ebb/ops/shape/views.h>

#include "ops/common/record.h"

namespace ebb::ops {

Variable IndexMethods::gather(std::int64_t dim, const Variable& index, bool sparse_grad) const {
  return ebb::gather(self(this), dim, index, sparse_grad);
}
Variable IndexMethods::scatter(std::int64_t dim, const Variable& index, const Variable& src) const {
  return ebb::scatter(self(this), dim, index, src);
}
Variable IndexMethods::scatter(std::int64_t dim, const Variable& index, const Scalar& value) const {
  return ebb::scatter(self(this), dim, index, value);
}
Variable IndexMethods::scatter(std::int64_t dim, const Variable& index, const Variable& src,
                               std::string_view reduce) const {
  return ebb::scatter(self(this), dim, index, src, reduce);
}
Variable IndexMethods::scatter(std::int64_t dim, const Variable& index, const Scalar& value,
                               std::string_view reduce) const {
  return ebb::scatter(self(this), dim, index, value, reduce);
}
Variable& IndexMethods::scatter_(std::int64_t dim, const Variable& index, const Variable& src) const {
  return ebb::scatter_(self(this), dim, index, src);
}
Variable& IndexMethods::scatter_(std::int64_t dim, const Variable& index, const Scalar& value) const {
  return ebb::scatter_(self(this), dim, index, value);
}
Variable& IndexMethods::scatter_(std::int64_t dim, const Variable& index, const Variable& src,
                                 std::string_view reduce) const {
  return ebb::scatter_(self(this), dim, index, src, reduce);
}
Variable& IndexMethods::scatter_(std::int64_t dim, const Variable& index, const Scalar& value,
                                 std::string_view reduce) const {
  return ebb::scatter_(self(this), dim, index, value, reduce);
}
Variable IndexMethods::scatter_add(std::int64_t dim, const Variable& index, const Variable& src) const {
  return ebb::scatter_add(self(this), dim, index, src);
}
Variable& IndexMethods::scatter_add_(std::int64_t dim, const Variable& index, const Variable& src) const {
  return ebb::scatter_add_(self(this), dim, index, src);
}
Variable IndexMethods::scatter_reduce(std::int64_t dim, const Variable& index, const Variable& src,
                                      std::string_view reduce, bool include_self) const {
  return ebb::scatter_reduce(self(this), dim, index, src, reduce, include_self);
}
Variable& IndexMethods::scatter_reduce_(std::int64_t dim, const Variable& index, const Variable& src,
                                        std::string_view reduce, bool include_self) const {
  return ebb::scatter_reduce_(self(this), dim, index, src, reduce, include_self);
}
Variable IndexMethods::index_select(std::int64_t dim, const Variable& index) const {
  return ebb::index_select(self(this), dim, index);
}
Variable IndexMethods::index_add(std::int64_t dim, const Variable& index, const Variable& source,
                                 const Scalar& alpha) const {
  return ebb::index_add(self(this), dim, index, source, alpha);
}
Variable& IndexMethods::index_add_(std::int64_t dim, const Variable& index, const Variable& source,
                                   const Scalar& alpha) const {
  return ebb::index_add_(self(this), dim, index, source, alpha);
}
Variable IndexMethods::index_copy(std::int64_t dim, const Variable& index, const Variable& source) const {
  return ebb::index_copy(self(this), dim, index, source);
}
Variable& IndexMethods::index_copy_(std::int64_t dim, const Variable& index, const Variable& source) const {
  return ebb::index_copy_(self(this), dim, index, source);
}
Variable IndexMethods::index_fill(std::int64_t dim, const Variable& index, const Scalar& value) const {
  return ebb::index_fill(self(this), dim, index, value);
}
Variable IndexMethods::index_fill(std::int64_t dim, const Variable& index, const Variable& value) const {
  return ebb::index_fill(self(this), dim, index, value);
}
Variable& IndexMethods::index_fill_(std::int64_t dim, const Variable& index, const Scalar& value) const {
  return ebb::index_fill_(self(this), dim, index, value);
}
Variable& IndexMethods::index_fill_(std::int64_t dim, const Variable& index, const Variable& value) const {
  return ebb::index_fill_(self(this), dim, index, value);
}
Variable IndexMethods::masked_fill(const Variable& mask, const Scalar& value) const {
  return ebb::masked_fill(self(this), mask, value);
}
Variable IndexMethods::masked_fill(const Variable& mask, const Variable& value) const {
  return ebb::masked_fill(self(this), mask, value);
}
Variable& IndexMethods::masked_fill_(const Variable& mask, const Scalar& value) const {
  return ebb::masked_fill_(self(this), mask, value);
}
Variable& IndexMethods::masked_fill_(const Variable& mask, const Variable& value) const {
  return ebb::masked_fill_(self(this), mask, value);
}
Variable IndexMethods::masked_select(const Variable& mask) const {
  return ebb::masked_select(self(this), mask);
}
Variable IndexMethods::masked_scatter(const Variable& mask, const Variable& source) const {
  return ebb::masked_scatter(self(this), mask, source);
}
Variable& IndexMethods::masked_scatter_(const Variable& mask, const Variable& source) const {
  return ebb::masked_scatter_(self(this), mask, source);
}
Variable IndexMethods::take(const Variable& index) const { return ebb::take(self(this), index); }
Variable IndexMethods::put(const Variable& index, const Variable& source, bool accumulate) const {
  return ebb::put(self(this), index, source, accumulate);
}
Variable& IndexMethods::put_(const Variable& index, const Variable& source, bool accumulate) const {
  return ebb::put_(self(this), index, source, accumulate);
}
Variable IndexMethods::take_along_dim(const Variable& indices, optional<std::int64_t> dim) const {
  return ebb::take_along_dim(self(this), indices, dim);
}
Variable IndexMethods::index_reduce(std::int64_t dim, const Variable& index, const Variable& source,
                                    std::string_view reduce, bool include_self) const {
  return ebb::index_reduce(self(this), dim, index, source, reduce, include_self);
}
Variable& IndexMethods::index_reduce_(std::int64_t dim, const Variable& index, const Variable& source,
                                      std::string_view reduce, bool include_self) const {
  return ebb::index_reduce_(self(this), dim, index, source, reduce, include_self);
}
Variable IndexMethods::nonzero_static(std::int64_t size, std::int64_t fill_value) const {
  return ebb::nonzero_static(self(this), size, fill_value);
}
Variable IndexMethods::nonzero() const { return ebb::nonzero(self(this)); }
Variable IndexMethods::argwhere() const { return ebb::argwhere(self(this)); }
std::vector<Variable> IndexMethods::nonzero_numpy() const { return ebb::nonzero_numpy(self(this)); }
Variable IndexMethods::operator[](std::int64_t index) const { return ebb::select(self(this), 0, index); }
Variable IndexMethods::operator[](const Variable& index) const {
  return indexing::get_item(self(this), indexing::TensorIndex(index));
}
Variable IndexMethods::index(ArrayRef<indexing::TensorIndex> indices) const {
  return indexing::get_item(self(this), indices);
}
Variable IndexMethods::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return indexing::get_item(self(this), indices);
}
Variable IndexMethods::index(const std::vector<indexing::TensorIndex>& indices) const {
  return indexing::get_item(self(this), indices);
}
Variable& IndexMethods::index_put_(ArrayRef<indexing::TensorIndex> indices, const Variable& values) const {
  indexing::set_item(self(this), indices, values);
  return mutable_self(self(this));
}
Variable& IndexMethods::index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value) const {
  indexing::set_item(self(this), indices, value);
  return mutable_self(self(this));
}
Variable& IndexMethods::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                   const Variable& values, bool accumulate) const {
  indexing::set_item(self(this), indices, values, accumulate);
  return mutable_self(self(this));
}
Variable& IndexMethods::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                   const Scalar& value) const {
  indexing::set_item(self(this), indices, value);
  return mutable_self(self(this));
}
Variable IndexMethods::index_put(std::initializer_list<indexing::TensorIndex> indices, const Variable& values,
                                 bool accumulate) const {
  return indexing::put_item(self(this), indices, values, accumulate);
}

std::tuple<Variable, Variable> IndexMethods::sort(std::int64_t dim, bool descending) const {
  return ebb::sort(self(this), dim, descending);
}
std::tuple<Variable, Variable> IndexMethods::sort(optional<bool> stable, std::int64_t dim,
                                                  bool descending) const {
  return ebb::sort(self(this), stable, dim, descending);
}
Variable IndexMethods::argsort(std::int64_t dim, bool descending) const {
  return ebb::argsort(self(this), dim, descending);
}
Variable IndexMethods::argsort(bool stable, std::int64_t dim, bool descending) const {
  return ebb::argsort(self(this), stable, dim, descending);
}
Variable IndexMethods::msort() const { return ebb::msort(self(this)); }
std::tuple<Variable, Variable> IndexMethods::topk(std::int64_t k, std::int64_t dim, bool largest,
                                                  bool sorted) const {
  return ebb::topk(self(this), k, dim, largest, sorted);
}
std::tuple<Variable, Variable> IndexMethods::kthvalue(std::int64_t k, std::int64_t dim, bool keepdim) const {
  return ebb::kthvalue(self(this), k, dim, keepdim);
}
Variable IndexMethods::median() const { return ebb::median(self(this)); }
std::tuple<Variable, Variable> IndexMethods::median(std::int64_t dim, bool keepdim) const {
  return ebb::median(self(this), dim, keepdim);
}
Variable IndexMethods::nanmedian() const { return ebb::nanmedian(self(this)); }
std::tuple<Variable, Variable> IndexMethods::nanmedian(std::int64_t dim, bool keepdim) const {
  return ebb::nanmedian(self(this), dim, keepdim);
}
std::tuple<Variable, Variable> IndexMethods::mode(std::int64_t dim, bool keepdim) const {
  return ebb::mode(self(this), dim, keepdim);
}
Variable IndexMethods::quantile(const Variable& q, optional<std::int64_t> dim, bool keepdim,
                                std::string_view interpolation) const {
  return ebb::quantile(self(this), q, dim, keepdim, interpolation);
}
Variable IndexMethods::quantile(double q, optional<std::int64_t> dim, bool keepdim,
                                std::string_view interpolation) const {
  return ebb::quantile(self(this), q, dim, keepdim, interpolation);
}
Variable IndexMethods::nanquantile(const Variable& q, optional<std::int64_t> dim, bool keepdim,
                                   std::string_view interpolation) const {
  return ebb::nanquantile(self(this), q, dim, keepdim, interpolation);
}
Variable IndexMethods::nanquantile(double q, optional<std::int64_t> dim, bool keepdim,
                                   std::string_view interpolation) const {
  return ebb::nanquantile(self(this), q, dim, keepdim, interpolation);
}
std::tuple<Variable, Variable> IndexMethods::histogram(const Variable& bins) const {
  return ebb::histogram(self(this), bins);
}
std::tuple<Variable, Variable> IndexMethods::histogram(const Variable& bins, const optional<Variable>& weight,
                                                       bool density) const {
  return ebb::histogram(self(this), bins, weight, density);
}
std::tuple<Variable, Variable> IndexMethods::histogram(std::int64_t bins,
                                                       optional<ArrayRef<double>> range) const {
  return ebb::histogram(self(this), bins, range);
}
std::tuple<Variable, Variable> IndexMethods::histogram(std::int64_t bins, optional<ArrayRef<double>> range,
                                                       const optional<Variable>& weight, bool density) const {
  return ebb::histogram(self(this), bins, range, weight, density);
}
Variable IndexMethods::bincount() const { return ebb::bincount(self(this)); }
Variable IndexMethods::bincount(const optional<Variable>& weights, std::int64_t minlength) const {
  return ebb::bincount(self(this), weights, minlength);
}
Variable IndexMethods::histc(std::int64_t bins, const Scalar& min, const Scalar& max) const {
  return ebb::histc(self(this), bins, min, max);
}

}  // namespace ebb::ops
