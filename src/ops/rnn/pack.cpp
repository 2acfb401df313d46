// pack_padded_sequence, pad_packed_sequence and pad_sequence: sequences of unequal lengths.
#include <ebb/ops/creation.h>
#include <ebb/ops/rnn.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "ops/common/checks.h"
#include "ops/rnn/layer.h"

#include <algorithm>
#include <functional>

namespace ebb {

namespace ops {

DimVector checked_integers(const char* op, const char* what, const Variable& x) {
  EBB_CHECK(x.defined(), op, ": expected ", what, ", got an undefined tensor.");
  EBB_CHECK(x.device().is_cpu() && x.dtype() == kLong && x.dim() == 1, op, ": expected ", what,
            " as a 1D Long tensor on the CPU, got ", x.dtype(), " of shape ", x.sizes(), " on ", x.device(),
            ". Convert with .to(kCPU, kLong).");
  EBB_CHECK(x.numel() > 0, op, ": expected ", what, " of at least one number, got none.");
  DimVector out;
  const Variable together = x.contiguous();
  detail::host_access(together.array());
  const std::int64_t* const values = together.array().address_as<std::int64_t>();
  for (std::int64_t i = 0; i < x.numel(); ++i) out.push_back(values[i]);
  return out;
}

DimVector checked_batch_sizes(const char* op, const Variable& data, const Variable& batch_sizes) {
  DimVector sizes = checked_integers(op, "batch_sizes", batch_sizes);
  std::int64_t total = 0, before = sizes[0];
  for (const std::int64_t n : sizes) {
    EBB_CHECK(n > 0 && n <= before, op, ": batch_sizes must be at least 1 and must not increase, got ",
              IntArrayRef(sizes), ".");
    EBB_CHECK(n <= data.size(0) - total, op, ": batch_sizes ", IntArrayRef(sizes), " need more than the ",
              data.size(0), " rows of data.");
    total += n;
    before = n;
  }
  EBB_CHECK(total == data.size(0), op, ": batch_sizes ", IntArrayRef(sizes), " add up to ", total,
            " rows, but data has ", data.size(0), ".");
  return sizes;
}

}  // namespace ops

std::tuple<Variable, Variable> _pack_padded_sequence(const Variable& input, const Variable& lengths,
                                                     bool batch_first) {
  const char* const op = "_pack_padded_sequence";
  ops::common_device(op, input);
  EBB_CHECK(input.dim() >= 2, op, ": expected padded sequences of 2 or more dimensions, got ", input.sizes(),
            ".");
  const Variable by_steps = batch_first ? input.transpose(0, 1) : input;
  const DimVector all = ops::checked_integers(op, "lengths", lengths);
  const std::int64_t batch = by_steps.size(1), count = static_cast<std::int64_t>(all.size());
  EBB_CHECK(count == batch, op, ": Expected `len(lengths)` to be equal to batch_size, but got ", count,
            " (batch_size=", batch, ").");
  EBB_CHECK(*std::min_element(all.begin(), all.end()) > 0, op,
            ": Length of all samples has to be greater than 0, but found an element in "
            "'lengths' that is <= 0: ",
            IntArrayRef(all), ".");
  EBB_CHECK(std::is_sorted(all.begin(), all.end(), std::greater<std::int64_t>()), op,
            ": `lengths` array must be sorted in decreasing order when `enforce_sorted` is True, got ",
            IntArrayRef(all), ". You can pass `enforce_sorted=False` to pack_padded_sequence.");
  EBB_CHECK(all[0] <= by_steps.size(0), op, ": Expected lengths of at most ", by_steps.size(0),
            ", the steps of the input, got ", all[0], ".");
  const NdArray sizes = NdArray::empty({all[0]}, kLong);
  detail::host_access(sizes);
  std::vector<Variable> pieces;
  // Consecutive steps with the same number of sequences are copied as one block.
  for (std::int64_t t = 0, n = batch; t < all[0];) {
    while (all[n - 1] <= t) --n;
    const std::int64_t end = all[n - 1];
    pieces.push_back(by_steps.narrow(0, t, end - t).narrow(1, 0, n).flatten(0, 1));
    for (; t < end; ++t) sizes.address_as<std::int64_t>()[t] = n;
  }
  return {cat(pieces), Variable(sizes)};
}

std::tuple<Variable, Variable> _pad_packed_sequence(const Variable& data, const Variable& batch_sizes,
                                                    bool batch_first, const Scalar& padding_value,
                                                    std::int64_t total_length) {
  const char* const op = "_pad_packed_sequence";
  ops::common_device(op, data);
  EBB_CHECK(data.dim() >= 1, op, ": expected packed rows (rows, ...), got a tensor without dimensions.");
  const DimVector sizes = ops::checked_batch_sizes(op, data, batch_sizes);
  const std::int64_t batch = sizes[0], longest = static_cast<std::int64_t>(sizes.size());
  EBB_CHECK(total_length <= 0 || total_length >= longest, op,
            ": Expected total_length to be at least the length of the longest sequence in input, but got "
            "total_length=",
            total_length, " and max sequence length being ", longest, ".");
  DimVector shape(data.sizes().slice(1));
  shape.insert(shape.begin(), batch);
  shape.insert(shape.begin(), 0);
  std::vector<Variable> pieces;
  const auto padding = [&](std::int64_t steps, std::int64_t sequences) {
    shape[0] = steps;
    shape[1] = sequences;
    return full(shape, padding_value, data.options());
  };
  std::int64_t row = 0;
  for (std::int64_t t = 0; t < longest;) {
    std::int64_t end = t;
    const std::int64_t n = sizes[t];
    while (end < longest && sizes[end] == n) ++end;
    shape[0] = end - t;
    shape[1] = n;
    const Variable piece = data.narrow(0, row, n * (end - t)).reshape(shape);
    row += n * (end - t);
    pieces.push_back(n == batch ? piece : cat({piece, padding(end - t, batch - n)}, 1));
    t = end;
  }
  if (total_length > longest) pieces.push_back(padding(total_length - longest, batch));
  const NdArray lengths = NdArray::empty({batch}, kLong);
  detail::host_access(lengths);
  for (std::int64_t i = 0; i < batch; ++i)
    lengths.address_as<std::int64_t>()[i] =
        std::count_if(sizes.begin(), sizes.end(), [&](std::int64_t n) { return n > i; });
  const Variable out = cat(pieces);
  return {batch_first ? out.transpose(0, 1) : out, Variable(lengths)};
}

Variable pad_sequence(TensorList sequences, bool batch_first, double padding_value,
                      std::string_view padding_side) {
  const char* const op = "pad_sequence";
  EBB_CHECK(!sequences.empty(), op, ": received an empty list of sequences.");
  EBB_CHECK(padding_side == "left" || padding_side == "right", op,
            ": Expected padding_side to be one of left or right, but got ", padding_side, ".");
  std::int64_t longest = 0;
  for (const Variable& x : sequences) {
    ops::common_device(op, sequences[0], x);
    EBB_CHECK(x.defined() && x.dim() >= 1, op, ": expected sequences (length, ...) of 1 or more dimensions.");
    EBB_CHECK(x.sizes().slice(1) == sequences[0].sizes().slice(1) && x.dtype() == sequences[0].dtype(), op,
              ": expected sequences that differ only in length, got ", sequences[0].dtype(), " of shape ",
              sequences[0].sizes(), " and ", x.dtype(), " of shape ", x.sizes(), ".");
    longest = std::max(longest, x.size(0));
  }
  std::vector<Variable> whole;
  for (const Variable& x : sequences) {
    DimVector shape(x.sizes());
    shape[0] = longest - x.size(0);
    if (shape[0] == 0) {
      whole.push_back(x);
      continue;
    }
    const Variable padding = full(shape, padding_value, x.options());
    whole.push_back(padding_side == "right" ? cat({x, padding}) : cat({padding, x}));
  }
  return stack(whole, batch_first ? 0 : 1);
}

}  // namespace ebb
