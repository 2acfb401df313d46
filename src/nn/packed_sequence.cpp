// PackedSequence: pack_padded_sequence, pad_packed_sequence and the order of sequences by length.
#include <ebb/nn/utils/rnn.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

namespace ebb::nn::utils::rnn {

namespace {

/// Copies the lengths to the host.
std::vector<std::int64_t> numbers_of(const char* op, const Variable& lengths, std::int64_t batch) {
  EBB_CHECK(lengths.defined() && lengths.dim() == 1 && lengths.size(0) == batch, op,
            ": expected a length for each of the ", batch, " sequences, got ", lengths, ".");
  const Variable values = lengths.to(kCPU).to(kLong).contiguous();
  const std::int64_t* const first = values.data_ptr<std::int64_t>();
  return {first, first + batch};
}

}  // namespace

Variable invert_permutation(const Variable& permutation) {
  if (!permutation.defined()) return {};
  const Variable out = empty_like(permutation, {}, MemoryFormat::Contiguous);
  out.scatter_(0, permutation, arange(permutation.numel(), permutation.options()));
  return out;
}

PackedSequence::PackedSequence(Variable data, Variable batch_sizes, Variable sorted_indices,
                               Variable unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(unsorted_indices.defined() ? std::move(unsorted_indices)
                                                   : invert_permutation(sorted_indices_)) {
  EBB_CHECK(data_.defined() && batch_sizes_.defined(),
            "PackedSequence: expected data and batch_sizes, got an ",
            "undefined tensor. pack_padded_sequence and pack_sequence make packed sequences.");
  EBB_CHECK(batch_sizes_.device().is_cpu(), "PackedSequence: batch_sizes should always be on CPU, got ",
            batch_sizes_.device(), ". pack_padded_sequence and pack_sequence make packed sequences.");
}

PackedSequence PackedSequence::pin_memory() const {
  const auto pinned = [](const Variable& x) { return x.defined() ? x.pin_memory() : x; };
  return PackedSequence(data_.pin_memory(), batch_sizes_, pinned(sorted_indices_), pinned(unsorted_indices_));
}

PackedSequence PackedSequence::to(const TensorOptions& options) const {
  const Variable data = data_.to(options);
  if (data.is_same(data_)) return *this;
  const auto moved = [&](const Variable& x) { return x.defined() ? x.to(data.device()) : x; };
  return PackedSequence(data, batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

PackedSequence PackedSequence::cuda() const { return to(TensorOptions(data_.options()).device(kCUDA)); }
PackedSequence PackedSequence::cpu() const { return to(TensorOptions(data_.options()).device(kCPU)); }
bool PackedSequence::is_cuda() const { return data_.device().is_cuda(); }
bool PackedSequence::is_pinned() const { return data_.is_pinned(); }

PackedSequence pack_padded_sequence(const Variable& input, const Variable& lengths, bool batch_first,
                                    bool enforce_sorted) {
  EBB_CHECK(input.defined() && lengths.defined(),
            "pack_padded_sequence: expected an input and lengths, got an undefined tensor.");
  EBB_CHECK(input.dim() >= 2, "pack_padded_sequence: expected padded sequences of 2 or more dimensions, got ",
            input.sizes(), ".");
  const Variable whole = lengths.to(kLong);
  if (enforce_sorted) {
    auto [data, batch_sizes] = _pack_padded_sequence(input, whole, batch_first);
    return PackedSequence(std::move(data), std::move(batch_sizes));
  }
  EBB_CHECK(whole.dim() == 1, "pack_padded_sequence: expected lengths as a 1D tensor, got ", whole.sizes(),
            ".");
  const auto [sorted, order] = sort(whole, -1, true);
  const std::int64_t batch = input.size(batch_first ? 0 : 1);
  EBB_CHECK(whole.size(0) == batch,
            "pack_padded_sequence: Expected `len(lengths)` to be equal to batch_size, but got ",
            whole.size(0), " (batch_size=", batch, ").");
  const Variable indices = order.to(input.device());
  auto [data, batch_sizes] =
      _pack_padded_sequence(input.index_select(batch_first ? 0 : 1, indices), sorted, batch_first);
  return PackedSequence(std::move(data), std::move(batch_sizes), indices);
}

std::tuple<Variable, Variable> pad_packed_sequence(const PackedSequence& sequence, bool batch_first,
                                                   double padding_value,
                                                   optional<std::int64_t> total_length) {
  const std::int64_t longest = sequence.batch_sizes().size(0);
  EBB_CHECK(!total_length || *total_length >= longest,
            "pad_packed_sequence: Expected total_length to be at least ",
            "the length of the longest sequence in input, but got total_length=", total_length.value_or(0),
            " and max sequence length being ", longest, ".");
  const auto [padded, lengths] = _pad_packed_sequence(sequence.data(), sequence.batch_sizes(), batch_first,
                                                      padding_value, total_length.value_or(longest));
  const Variable& order = sequence.unsorted_indices();
  if (!order.defined()) return {padded, lengths};
  return {padded.index_select(batch_first ? 0 : 1, order), lengths.index_select(0, order.to(kCPU))};
}

std::vector<Variable> unpad_sequence(const Variable& padded_sequences, const Variable& lengths,
                                     bool batch_first) {
  const char* const op = "unpad_sequence";
  EBB_CHECK(padded_sequences.defined() && padded_sequences.dim() >= 2, op,
            ": expected padded sequences of 2 or more dimensions.");
  const Variable by_sequence = batch_first ? padded_sequences : padded_sequences.transpose(0, 1);
  std::vector<Variable> out;
  for (const std::int64_t n : numbers_of(op, lengths, by_sequence.size(0))) {
    EBB_CHECK(n >= 0 && n <= by_sequence.size(1), op, ": expected lengths from 0 to ", by_sequence.size(1),
              ", got ", n, ".");
    out.push_back(by_sequence.select(0, static_cast<std::int64_t>(out.size())).narrow(0, 0, n));
  }
  return out;
}

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted) {
  const Variable padded = pad_sequence(sequences);
  std::vector<std::int64_t> lengths;
  for (const Variable& x : sequences) lengths.push_back(x.size(0));
  return pack_padded_sequence(padded, tensor(lengths, kLong), false, enforce_sorted);
}

std::vector<Variable> unpack_sequence(const PackedSequence& packed_sequences) {
  const auto [padded, lengths] = pad_packed_sequence(packed_sequences, true);
  return unpad_sequence(padded, lengths, true);
}

}  // namespace ebb::nn::utils::rnn
