// TextDataset (windows of tokens) and PadSequence (batches of sequences of unequal lengths).
#include <ebb/data/text.h>
#include <ebb/ops/rnn.h>
#include <ebb/ops/shape.h>

namespace ebb::data {

namespace datasets {

TextDataset::TextDataset(Variable tokens, std::int64_t length, optional<std::int64_t> stride)
    : tokens_(std::move(tokens)), length_(length), stride_(stride.value_or(length)) {
  EBB_CHECK(tokens_.dim() == 1 && tokens_.dtype() == kLong, "TextDataset: expected tokens kLong [n], got ",
            tokens_, ".");
  EBB_CHECK(length_ > 0 && stride_ > 0, "TextDataset: length and stride must be positive, not ", length_,
            " and ", stride_, ".");
  EBB_CHECK(tokens_.size(0) > length_, "TextDataset: windows of ", length_, " tokens and their targets need ",
            length_ + 1, " tokens, there are ", tokens_.size(0), ".");
}

Example<> TextDataset::get(std::size_t index) {
  EBB_CHECK(index < *size(), "TextDataset: there is no window ", std::uint64_t{index}, " in ",
            std::uint64_t{*size()}, ".");
  const std::int64_t start = static_cast<std::int64_t>(index) * stride_;
  return {tokens_.narrow(0, start, length_), tokens_.narrow(0, start + 1, length_)};
}

optional<std::size_t> TextDataset::size() const {
  return static_cast<std::size_t>((tokens_.size(0) - length_ - 1) / stride_ + 1);
}

}  // namespace datasets

namespace transforms {

Example<> PadSequence::apply_batch(std::vector<Example<>> examples) {
  std::vector<Variable> data, targets;
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  const bool sequences = !targets.empty() && targets.front().dim() > 0;
  return {pad_sequence(data, true, padding_value),
          sequences ? pad_sequence(targets, true, target_padding_value) : stack(targets)};
}

}  // namespace transforms
}  // namespace ebb::data
