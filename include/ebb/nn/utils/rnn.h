// Sequences of unequal lengths for recurrent layers (torch::nn::utils::rnn).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/rnn.h>

#include <tuple>

namespace ebb::nn::utils::rnn {

/// The permutation that takes `permutation`, a vector of integers, back; undefined for an undefined one.
EBB_API Variable invert_permutation(const Variable& permutation);

/// Sequences step by step without padding: data (rows, *), of which step t has batch_sizes[t] (Long, on the
/// CPU). Where they were sorted by length, sorted_indices says which sequence came first, and
/// unsorted_indices takes that back. Made by pack_padded_sequence and pack_sequence.
class EBB_API PackedSequence {
 public:
  /// unsorted_indices is computed where it is left out. Throws for batch_sizes elsewhere than on the CPU.
  explicit PackedSequence(Variable data, Variable batch_sizes, Variable sorted_indices = {},
                          Variable unsorted_indices = {});

  const Variable& data() const { return data_; }
  const Variable& batch_sizes() const { return batch_sizes_; }
  const Variable& sorted_indices() const { return sorted_indices_; }
  const Variable& unsorted_indices() const { return unsorted_indices_; }

  PackedSequence pin_memory() const;
  /// Converts the data; the indices go to its device, batch_sizes stays on the CPU.
  PackedSequence to(const TensorOptions& options) const;
  PackedSequence cuda() const;
  PackedSequence cpu() const;
  bool is_cuda() const;
  bool is_pinned() const;

 private:
  Variable data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

/// Packs padded sequences (T, N, *), or (N, T, *) with batch_first, of these lengths (integers, on the CPU,
/// each at least 1). With enforce_sorted they must not increase; without, sequences are sorted first.
EBB_API PackedSequence pack_padded_sequence(const Variable& input, const Variable& lengths,
                                            bool batch_first = false, bool enforce_sorted = true);
/// The inverse: padded sequences in their first order, and their lengths. Throws where total_length is below
/// the longest.
EBB_API std::tuple<Variable, Variable> pad_packed_sequence(const PackedSequence& sequence,
                                                           bool batch_first = false,
                                                           double padding_value = 0.0,
                                                           optional<std::int64_t> total_length = nullopt);
using ebb::pad_sequence;
/// The sequences (L_i, *) of padded ones: the first lengths[i] steps of each (Python's unpad_sequence).
EBB_API std::vector<Variable> unpad_sequence(const Variable& padded_sequences, const Variable& lengths,
                                             bool batch_first = false);
/// Packs sequences (L_i, *), the longest first unless enforce_sorted is false.
EBB_API PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted = true);
/// The sequences of a packed one, in their first order (Python's unpack_sequence).
EBB_API std::vector<Variable> unpack_sequence(const PackedSequence& packed_sequences);

}  // namespace ebb::nn::utils::rnn
