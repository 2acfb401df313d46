// Datasets of text: Vocabulary (the tokens of a text and their indices), TextDataset (windows of tokens) and
// PadSequence (batches of sequences of unequal lengths).
#include <ebb/data/text.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/rnn.h>
#include <ebb/ops/shape.h>

#include "core/system.h"
#include "io/atomic_file.h"
#include "io/bytes.h"

#include <algorithm>
#include <map>

namespace ebb::data {
namespace {

using Unit = Vocabulary::Unit;

// Returns the number of bytes of the first character of the text, or 1 if it is not valid UTF-8.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (lead >= 0xf8 || length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 1;
  return length;
}

// Calls f for each token of the text.
template <class F>
void for_each_token(Unit unit, std::string_view text, const F& f) {
  constexpr std::string_view spaces = " \t\n\v\f\r";
  while (true) {
    if (unit == Unit::word) text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    if (text.empty()) return;
    const std::size_t length =
        unit == Unit::character ? character_length(text) : std::min(text.find_first_of(spaces), text.size());
    f(std::string(text.substr(0, length)));
    text.remove_prefix(length);
  }
}

std::string escaped(std::string_view token) {
  std::string out;
  for (const char c : token) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else
      out += c == '\\' ? "\\\\" : std::string(1, c);
  }
  return out;
}

std::string unescaped(std::string_view line, const std::string& path) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      out += line[i];
      continue;
    }
    const char next = ++i < line.size() ? line[i] : '\0';
    EBB_CHECK(next == 'n' || next == 'r' || next == '\\', "Vocabulary::load: \"", path,
              "\" contains an invalid escape sequence. Save the vocabulary again.");
    out += next == 'n' ? '\n' : next == 'r' ? '\r' : '\\';
  }
  return out;
}

constexpr std::string_view kHeads[] = {"vocabulary of characters", "vocabulary of words"};

}  // namespace

std::string read_text(const std::string& path) {
  const io::InputFile file(path);
  EBB_CHECK(file.size() < ebb::detail::memory_limit(), "read_text: \"", path, "\" of ", file.size(),
            " bytes is larger than the memory, ", std::uint64_t{ebb::detail::memory_limit()},
            " bytes. Read it in parts.");
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  return text;
}

Vocabulary::Vocabulary(Unit unit, std::vector<std::string> tokens, optional<std::string> unknown)
    : unit_(unit), tokens_(std::move(tokens)), unknown_(std::move(unknown)) {
  for (const std::string& token : tokens_)
    EBB_CHECK(indices_.emplace(token, static_cast<std::int64_t>(indices_.size())).second,
              "Vocabulary: the token \"", token, "\" occurs twice.");
}

Vocabulary Vocabulary::count(Unit unit, std::string_view text, const VocabularyOptions& options) {
  std::map<std::string, std::int64_t> counts;
  for_each_token(unit, text, [&](const std::string& token) { ++counts[token]; });
  std::vector<std::string> tokens = options.specials();
  if (options.unknown() && std::find(tokens.begin(), tokens.end(), *options.unknown()) == tokens.end())
    tokens.insert(tokens.begin(), *options.unknown());
  for (const std::string& special : tokens) counts.erase(special);
  std::vector<std::pair<std::string, std::int64_t>> found(counts.begin(), counts.end());
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (auto& [token, times] : found)
    if (times >= options.min_freq()) tokens.push_back(std::move(token));
  return {unit, std::move(tokens), options.unknown()};
}

Vocabulary Vocabulary::from_characters(std::string_view text, const VocabularyOptions& options) {
  return count(Unit::character, text, options);
}
Vocabulary Vocabulary::from_words(std::string_view text, const VocabularyOptions& options) {
  return count(Unit::word, text, options);
}

const std::string& Vocabulary::token(std::int64_t index) const {
  EBB_CHECK_INDEX(index >= 0 && index < size(), "Vocabulary: index ", index, " is out of range for ", size(),
                  " tokens.");
  return tokens_[static_cast<std::size_t>(index)];
}

std::int64_t Vocabulary::index(const std::string& token) const {
  auto found = indices_.find(token);
  if (found == indices_.end() && unknown_) found = indices_.find(*unknown_);
  EBB_CHECK(
      found != indices_.end(), "Vocabulary: the token \"", token,
      "\" is not in the vocabulary. Set a token for unknown tokens: VocabularyOptions().unknown(\"<unk>\").");
  return found->second;
}

Variable Vocabulary::encode(std::string_view text) const {
  std::vector<std::int64_t> out;
  for_each_token(unit_, text, [&](const std::string& token) { out.push_back(index(token)); });
  return tensor(out, kLong);
}

std::string Vocabulary::decode(const Variable& indices) const {
  EBB_CHECK(indices.dim() == 1 && !indices.is_floating_point(),
            "Vocabulary::decode: expected integers [n], got ", indices, ".");
  const Variable all = indices.detach().to(Device::CPU).to(kLong).contiguous();
  std::string text;
  for (std::int64_t i = 0; i < all.numel(); ++i) {
    if (unit_ == Unit::word && i > 0) text += ' ';
    text += token(all.data_ptr<std::int64_t>()[i]);
  }
  return text;
}

void Vocabulary::save(const std::string& path) const {
  std::string text(kHeads[unit_ == Unit::word]);
  text += "\n" + escaped(unknown_.value_or("")) + "\n";
  for (const std::string& token : tokens_) text += escaped(token) + "\n";
  io::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

Vocabulary Vocabulary::load(const std::string& path) {
  const std::string text = read_text(path);
  std::vector<std::string> lines;
  lines.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != text.npos; start = end + 1)
    lines.push_back(unescaped(std::string_view(text).substr(start, end - start), path));
  EBB_CHECK(lines.size() >= 2 && text.ends_with('\n') && (lines[0] == kHeads[0] || lines[0] == kHeads[1]),
            "Vocabulary::load: \"", path, "\" was not written by Vocabulary::save, or is truncated.");
  const optional<std::string> unknown = lines[1].empty() ? nullopt : optional<std::string>(lines[1]);
  const Unit unit = lines[0] == kHeads[1] ? Unit::word : Unit::character;
  lines.erase(lines.begin(), lines.begin() + 2);
  return {unit, std::move(lines), unknown};
}

namespace datasets {

TextDataset::TextDataset(Variable tokens, std::int64_t length, optional<std::int64_t> stride)
    : tokens_(std::move(tokens)), length_(length), stride_(stride.value_or(length)) {
  EBB_CHECK(tokens_.dim() == 1 && tokens_.dtype() == kLong, "TextDataset: expected tokens kLong [n], got ",
            tokens_, ".");
  EBB_CHECK(length_ > 0 && stride_ > 0, "TextDataset: length and stride must be positive, got ", length_,
            " and ", stride_, ".");
  EBB_CHECK(tokens_.size(0) > length_, "TextDataset: windows of ", length_, " tokens and their targets need ",
            length_ + 1, " tokens, but there are only ", tokens_.size(0), ".");
}

Example<> TextDataset::get(std::size_t index) {
  EBB_CHECK(index < *size(), "TextDataset: index ", std::uint64_t{index}, " is out of range for ",
            std::uint64_t{*size()}, " windows.");
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
