// read_text, Vocabulary and TextDataset: text for language models.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/data/datasets.h>
#include <ebb/data/transforms.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ebb::data {

/// Returns the contents of a file. Throws if it cannot be read, is not a regular file (a folder, a device, a
/// pipe, a file of /proc without a size), or is larger than the memory of the machine.
EBB_API std::string read_text(const std::string& path);

/// Options of a Vocabulary (torchtext.vocab.build_vocab_from_iterator).
class EBB_API VocabularyOptions {
 public:
  EBB_ARG(std::int64_t, min_freq) = 1;          ///< drops tokens that occur less often
  EBB_ARG(std::vector<std::string>, specials);  ///< these tokens come first, in this order
  EBB_ARG(optional<std::string>,
          unknown);  ///< replaces all other tokens; comes first unless it is among the specials
};

/// Assigns indices to tokens: first the special tokens, then the others by descending frequency. Tokens of
/// equal frequency are in alphabetical order.
class EBB_API Vocabulary {
 public:
  /// The unit of a token: a UTF-8 character (each byte of invalid UTF-8 is a token), or a word between spaces
  /// and line ends.
  enum class Unit { character, word };

  static Vocabulary from_characters(std::string_view text, const VocabularyOptions& options = {});
  static Vocabulary from_words(std::string_view text, const VocabularyOptions& options = {});

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  Unit unit() const { return unit_; }
  const std::vector<std::string>& tokens() const { return tokens_; }
  const std::string& token(std::int64_t index) const;
  bool contains(const std::string& token) const { return indices_.count(token) != 0; }
  /// Returns the index of a token, or of the unknown token. Throws for an unknown token if none was set.
  std::int64_t index(const std::string& token) const;

  /// Returns the token indices of a text: kLong [n].
  Variable encode(std::string_view text) const;
  /// Returns the text of token indices [n]. Characters are concatenated; words are separated by a space.
  std::string decode(const Variable& indices) const;

  /// Saves a text file with one item per line: the unit, the unknown token, and all tokens. Line ends and
  /// backslashes in tokens are written as \n, \r and \\.
  void save(const std::string& path) const;
  static Vocabulary load(const std::string& path);

 private:
  Vocabulary(Unit unit, std::vector<std::string> tokens, optional<std::string> unknown);
  static Vocabulary count(Unit unit, std::string_view text, const VocabularyOptions& options);

  Unit unit_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int64_t> indices_;
  optional<std::string> unknown_;
};

namespace datasets {

/// Windows of `length` tokens. Each begins `stride` tokens after the previous one; the default stride is
/// `length`. A sample is {tokens[i, i + length), tokens[i + 1, i + length + 1)}, so the targets are the next
/// tokens. Both tensors are Long and views of `tokens`. An incomplete window at the end is dropped. Throws
/// for fewer than length + 1 tokens.
class EBB_API TextDataset : public Dataset<TextDataset> {
 public:
  TextDataset(Variable tokens, std::int64_t length, optional<std::int64_t> stride = nullopt);
  Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override;
  const Variable& tokens() const { return tokens_; }

 private:
  Variable tokens_;
  std::int64_t length_, stride_;
};

}  // namespace datasets

namespace transforms {

/// Collates sequences [L, *] of different lengths into a batch [n, longest, *], padded at the ends with
/// padding_value. Targets that are sequences are padded with target_padding_value (cross_entropy ignores its
/// default value). Single targets are stacked.
struct EBB_API PadSequence : Collation<Example<>> {
  explicit PadSequence(double padding_value = 0, double target_padding_value = -100)
      : padding_value(padding_value), target_padding_value(target_padding_value) {}
  Example<> apply_batch(std::vector<Example<>> examples) override;

  double padding_value, target_padding_value;
};

}  // namespace transforms
}  // namespace ebb::data
