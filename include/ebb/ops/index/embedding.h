// embedding, embedding_bag and one_hot.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

/// Returns one-hot Long vectors with num_classes (or max + 1) entries. (torch.nn.functional.one_hot)
EBB_API Variable one_hot(const Variable& x, std::int64_t num_classes = -1);
/// Looks up rows of a matrix. The result has the shape of `indices`, followed by the number of columns. Row
/// padding_idx gets no gradient. scale_grad_by_freq divides each row's gradient by the number of its uses.
/// Gradients are dense; `sparse` is ignored. (torch.embedding)
EBB_API Variable embedding(const Variable& weight, const Variable& indices, std::int64_t padding_idx = -1,
                           bool scale_grad_by_freq = false, bool sparse = false);
EBB_API Variable embedding_dense_backward(const Variable& grad_output, const Variable& indices,
                                          std::int64_t num_weights, std::int64_t padding_idx,
                                          bool scale_grad_by_freq);

/// Scales down the indexed rows of the table (V, D) whose norm exceeds max_norm, so that their norm is
/// max_norm. Works in place and without a graph. (torch.embedding_renorm_)
EBB_API Variable& embedding_renorm_(const Variable& self, const Variable& indices, double max_norm,
                                    double norm_type);
/// Returns a copy of the table, in which rows are scaled as by embedding_renorm_.
EBB_API Variable embedding_renorm(const Variable& self, const Variable& indices, double max_norm,
                                  double norm_type);

/// Reduces bags of rows of `weight` (rows, D). Bag b contains the rows indices[offsets[b]] up to, but
/// excluding, indices[offsets[b + 1]]. The last bag ends at the end of the indices, or with
/// include_last_offset at the last offset. `mode` 0 sums (each row times its per_sample_weights, if given), 1
/// takes the mean, and 2 takes the maximum of each column (the first one of ties). Empty bags give 0. Row
/// padding_idx, counted from the end if negative, is left out of the bags and gets no gradient.
/// scale_grad_by_freq divides each row's gradient by the number of its uses. Gradients are dense; `sparse` is
/// ignored. The op needs no more memory than the rows that are looked up.
///
/// indices (n) and offsets (bags) are Long or Int, on the device of weight. Offsets do not decrease. Returns
/// four tensors: the bags (bags, D), the bag of each index (n), the size of each bag without padding (bags),
/// and with mode 2 the row of each maximum (bags, D). With other modes, the fourth tensor contains the sizes
/// again. Throws for other shapes and dtypes. On the CPU also throws for offsets that do not begin with 0 or
/// exceed the number of indices. (torch.embedding_bag)
EBB_API std::tuple<Variable, Variable, Variable, Variable> embedding_bag(
    const Variable& weight, const Variable& indices, const Variable& offsets, bool scale_grad_by_freq = false,
    std::int64_t mode = 0, bool sparse = false, const optional<Variable>& per_sample_weights = nullopt,
    bool include_last_offset = false);
EBB_API std::tuple<Variable, Variable, Variable, Variable> embedding_bag(
    const Variable& weight, const Variable& indices, const Variable& offsets, bool scale_grad_by_freq,
    std::int64_t mode, bool sparse, const optional<Variable>& per_sample_weights, bool include_last_offset,
    optional<std::int64_t> padding_idx);

}  // namespace ebb
