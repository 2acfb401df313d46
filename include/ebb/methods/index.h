// IndexMethods: methods of Variable that index, gather, scatter, sort and count; documented with the
// functions of the same names in ebb/ops/index/.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <vector>

namespace ebb::indexing {
class TensorIndex;
}  // namespace ebb::indexing

namespace ebb::ops {

struct EBB_API IndexMethods {
  // Indexing, gather and scatter.
  Variable gather(std::int64_t dim, const Variable& index, bool sparse_grad = false) const;
  Variable scatter(std::int64_t dim, const Variable& index, const Variable& src) const;
  Variable scatter(std::int64_t dim, const Variable& index, const Scalar& value) const;
  Variable scatter(std::int64_t dim, const Variable& index, const Variable& src,
                   std::string_view reduce) const;
  Variable scatter(std::int64_t dim, const Variable& index, const Scalar& value,
                   std::string_view reduce) const;
  Variable& scatter_(std::int64_t dim, const Variable& index, const Variable& src) const;
  Variable& scatter_(std::int64_t dim, const Variable& index, const Scalar& value) const;
  Variable& scatter_(std::int64_t dim, const Variable& index, const Variable& src,
                     std::string_view reduce) const;
  Variable& scatter_(std::int64_t dim, const Variable& index, const Scalar& value,
                     std::string_view reduce) const;
  Variable scatter_add(std::int64_t dim, const Variable& index, const Variable& src) const;
  Variable& scatter_add_(std::int64_t dim, const Variable& index, const Variable& src) const;
  Variable scatter_reduce(std::int64_t dim, const Variable& index, const Variable& src,
                          std::string_view reduce, bool include_self = true) const;
  Variable& scatter_reduce_(std::int64_t dim, const Variable& index, const Variable& src,
                            std::string_view reduce, bool include_self = true) const;
  Variable index_select(std::int64_t dim, const Variable& index) const;
  Variable index_add(std::int64_t dim, const Variable& index, const Variable& source,
                     const Scalar& alpha = 1) const;
  Variable& index_add_(std::int64_t dim, const Variable& index, const Variable& source,
                       const Scalar& alpha = 1) const;
  Variable index_reduce(std::int64_t dim, const Variable& index, const Variable& source,
                        std::string_view reduce, bool include_self = true) const;
  Variable& index_reduce_(std::int64_t dim, const Variable& index, const Variable& source,
                          std::string_view reduce, bool include_self = true) const;
  Variable index_copy(std::int64_t dim, const Variable& index, const Variable& source) const;
  Variable& index_copy_(std::int64_t dim, const Variable& index, const Variable& source) const;
  Variable index_fill(std::int64_t dim, const Variable& index, const Scalar& value) const;
  Variable index_fill(std::int64_t dim, const Variable& index, const Variable& value) const;
  Variable& index_fill_(std::int64_t dim, const Variable& index, const Scalar& value) const;
  Variable& index_fill_(std::int64_t dim, const Variable& index, const Variable& value) const;
  Variable masked_fill(const Variable& mask, const Scalar& value) const;
  Variable masked_fill(const Variable& mask, const Variable& value) const;
  Variable& masked_fill_(const Variable& mask, const Scalar& value) const;
  Variable& masked_fill_(const Variable& mask, const Variable& value) const;
  Variable masked_select(const Variable& mask) const;
  Variable masked_scatter(const Variable& mask, const Variable& source) const;
  Variable& masked_scatter_(const Variable& mask, const Variable& source) const;
  Variable take(const Variable& index) const;
  Variable put(const Variable& index, const Variable& source, bool accumulate = false) const;
  Variable& put_(const Variable& index, const Variable& source, bool accumulate = false) const;
  Variable take_along_dim(const Variable& indices, optional<std::int64_t> dim = nullopt) const;
  Variable nonzero() const;
  Variable argwhere() const;
  Variable nonzero_static(std::int64_t size, std::int64_t fill_value = -1) const;
  std::vector<Variable> nonzero_numpy() const;
  /// Index the first dimension. x[i] is a view, so `x[0] = y` assigns to x. x[tensor] is a view for a 0-d
  /// integer tensor, and otherwise a copy.
  Variable operator[](std::int64_t index) const;
  Variable operator[](const Variable& index) const;
  /// Indexes like `x.index({Slice(1), "...", None, mask, 0})`; see ebb::indexing.
  Variable index(ArrayRef<indexing::TensorIndex> indices) const;
  Variable index(std::initializer_list<indexing::TensorIndex> indices) const;
  Variable index(const std::vector<indexing::TensorIndex>& indices) const;
  Variable& index_put_(ArrayRef<indexing::TensorIndex> indices, const Variable& values) const;
  Variable& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value) const;
  Variable& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Variable& values,
                       bool accumulate = false) const;
  Variable& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) const;
  Variable index_put(std::initializer_list<indexing::TensorIndex> indices, const Variable& values,
                     bool accumulate = false) const;

  // Sorting, order statistics and counts.
  std::tuple<Variable, Variable> sort(std::int64_t dim = -1, bool descending = false) const;
  std::tuple<Variable, Variable> sort(optional<bool> stable, std::int64_t dim = -1,
                                      bool descending = false) const;
  Variable argsort(std::int64_t dim = -1, bool descending = false) const;
  Variable argsort(bool stable, std::int64_t dim = -1, bool descending = false) const;
  Variable msort() const;
  std::tuple<Variable, Variable> topk(std::int64_t k, std::int64_t dim = -1, bool largest = true,
                                      bool sorted = true) const;
  std::tuple<Variable, Variable> kthvalue(std::int64_t k, std::int64_t dim = -1, bool keepdim = false) const;
  Variable median() const;
  std::tuple<Variable, Variable> median(std::int64_t dim, bool keepdim = false) const;
  Variable nanmedian() const;
  std::tuple<Variable, Variable> nanmedian(std::int64_t dim, bool keepdim = false) const;
  std::tuple<Variable, Variable> mode(std::int64_t dim = -1, bool keepdim = false) const;
  Variable quantile(const Variable& q, optional<std::int64_t> dim = nullopt, bool keepdim = false,
                    std::string_view interpolation = "linear") const;
  Variable quantile(double q, optional<std::int64_t> dim = nullopt, bool keepdim = false,
                    std::string_view interpolation = "linear") const;
  Variable nanquantile(const Variable& q, optional<std::int64_t> dim = nullopt, bool keepdim = false,
                       std::string_view interpolation = "linear") const;
  Variable nanquantile(double q, optional<std::int64_t> dim = nullopt, bool keepdim = false,
                       std::string_view interpolation = "linear") const;
  std::tuple<Variable, Variable> histogram(const Variable& bins) const;
  std::tuple<Variable, Variable> histogram(const Variable& bins, const optional<Variable>& weight,
                                           bool density = false) const;
  std::tuple<Variable, Variable> histogram(std::int64_t bins = 100,
                                           optional<ArrayRef<double>> range = nullopt) const;
  std::tuple<Variable, Variable> histogram(std::int64_t bins, optional<ArrayRef<double>> range,
                                           const optional<Variable>& weight, bool density = false) const;
  Variable bincount() const;
  Variable bincount(const optional<Variable>& weights, std::int64_t minlength = 0) const;
  Variable histc(std::int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0) const;
};

}  // namespace ebb::ops
