// PackedSequence and its functions: sequences of different lengths for recurrent layers
// (torch::nn::utils::rnn).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/rnn.h>

#include <tuple>

namespace ebb::nn::utils::rnn {

/// Returns the inverse of `permutation`, a vector of integers. Returns an undefined tensor if `permutation`
/// is undefined.
EBB_API Variable invert_permutation(const Variable& permutation);

/// Sequences stored step by step without padding. data is (rows, *); step t has batch_sizes[t] rows (Long, on
/// the CPU). If the sequences were sorted by length, sorted_indices is the permutation and unsorted_indices
/// is its inverse. pack_padded_sequence and pack_sequence create a PackedSequence.
class EBB_API PackedSequence {
 public:
  /// If unsorted_indices is missing, computes it from sorted_indices. Throws unless batch_sizes is on the
  /// CPU.
  explicit PackedSequence(Variable data, Variable batch_sizes, Variable sorted_indices = {},
                          Variable unsorted_indices = {});

  const Variable& data() const { return data_; }
  const Variable& batch_sizes() const { return batch_sizes_; }
  const Variable& sorted_indices() const { return sorted_indices_; }
  const Variable& unsorted_indices() const { return unsorted_indices_; }

  PackedSequence pin_memory() const;
  /// Converts the data and moves the indices to its device. batch_sizes stays on the CPU.
  PackedSequence to(const TensorOptions& options) const;
  PackedSequence cuda() const;
  PackedSequence cpu() const;
  bool is_cuda() const;
  bool is_pinned() const;

 private:
  Variable data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

/// Packs padded sequences (T, N, *), or (N, T, *) with batch_first. lengths are integers on the CPU, each at
/// least 1. With enforce_sorted they must not increase; without it, sequences are sorted first.
EBB_API PackedSequence pack_padded_sequence(const Variable& input, const Variable& lengths,
                                            bool batch_first = false, bool enforce_sorted = true);
/// Returns padded sequences in their original order, and their lengths (the inverse of pack_padded_sequence).
/// Throws if total_length is below the length of the longest sequence.
EBB_API std::tuple<Variable, Variable> pad_packed_sequence(const PackedSequence& sequence,
                                                           bool batch_first = false,
                                                           double padding_value = 0.0,
                                                           optional<std::int64_t> total_length = nullopt);
using ebb::pad_sequence;
/// Splits padded sequences into sequences (L_i, *), where sequence i has the first lengths[i] steps (Python's
/// unpad_sequence).
EBB_API std::vector<Variable> unpad_sequence(const Variable& padded_sequences, const Variable& lengths,
                                             bool batch_first = false);
/// Packs sequences (L_i, *). They must be sorted, longest first, unless enforce_sorted is false.
EBB_API PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted = true);
/// Returns the sequences of a packed sequence in their original order (Python's unpack_sequence).
EBB_API std::vector<Variable> unpack_sequence(const PackedSequence& packed_sequences);

}  // namespace ebb::nn::utils::rnn
