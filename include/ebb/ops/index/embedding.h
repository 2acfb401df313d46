// Rows of a table: embeddings, their sums over bags, and classes as one-hot vectors.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

/// Long vectors of num_classes (or max + 1) entries with a 1 at each class. (torch.nn.functional.one_hot)
EBB_API Variable one_hot(const Variable& x, std::int64_t num_classes = -1);
/// Rows of a matrix: shape of indices + {columns}. The row padding_idx gets no gradient; scale_grad_by_freq
/// divides each row's gradient by the number of its uses. Gradients are dense whatever `sparse` says.
/// (torch.embedding)
EBB_API Variable embedding(const Variable& weight, const Variable& indices, std::int64_t padding_idx = -1,
                           bool scale_grad_by_freq = false, bool sparse = false);
EBB_API Variable embedding_dense_backward(const Variable& grad_output, const Variable& indices,
                                          std::int64_t num_weights, std::int64_t padding_idx,
                                          bool scale_grad_by_freq);

/// Scales those rows of the table (V, D) that indices name, and whose norm exceeds max_norm, down to it, in
/// place and without a graph. (torch.embedding_renorm_)
EBB_API Variable& embedding_renorm_(const Variable& self, const Variable& indices, double max_norm,
                                    double norm_type);
/// The same of a copy.
EBB_API Variable embedding_renorm(const Variable& self, const Variable& indices, double max_norm,
                                  double norm_type);

/// Reduces bags of rows of `weight` (rows, D): bag b holds the rows indices[offsets[b]] up to
/// indices[offsets[b
/// + 1]], the last one what is left, or with include_last_offset the last offset ends the last bag. `mode` 0
/// sums (each row times its per_sample_weights, if given), 1 takes the mean, 2 the maximum of each column, at
/// the first of equals. Empty bags are 0. The row padding_idx, counted from the end if negative, is left out
/// of the bags and gets no gradient; scale_grad_by_freq divides each row's gradient by the number of its
/// uses. Gradients are dense whatever `sparse` says. Memory is that of the rows looked up.
///
/// indices (n) and offsets (bags): Long or Int, on the device of weight; offsets do not decrease. Gives the
/// bags (bags, D), the bag of each index (n), the size of each bag without padding (bags), and with mode 2
/// the row that each maximum is of (bags, D), else the sizes again. Throws for other shapes and dtypes, and
/// on the CPU for offsets that do not begin with 0 or end after the indices. (torch.embedding_bag)
EBB_API std::tuple<Variable, Variable, Variable, Variable> embedding_bag(
    const Variable& weight, const Variable& indices, const Variable& offsets, bool scale_grad_by_freq = false,
    std::int64_t mode = 0, bool sparse = false, const optional<Variable>& per_sample_weights = nullopt,
    bool include_last_offset = false);
EBB_API std::tuple<Variable, Variable, Variable, Variable> embedding_bag(
    const Variable& weight, const Variable& indices, const Variable& offsets, bool scale_grad_by_freq,
    std::int64_t mode, bool sparse, const optional<Variable>& per_sample_weights, bool include_last_offset,
    optional<std::int64_t> padding_idx);

}  // namespace ebb
