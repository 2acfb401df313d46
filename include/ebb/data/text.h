// Text for language models: files, vocabularies and windows of tokens.
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

/// All of a file, as it is. Throws where it cannot be read, is no regular file (a folder, a device, a pipe, a
/// file of /proc without a size), or is larger than the memory of the machine.
EBB_API std::string read_text(const std::string& path);

/// Options of a Vocabulary (torchtext.vocab.build_vocab_from_iterator).
class EBB_API VocabularyOptions {
 public:
  EBB_ARG(std::int64_t, min_freq) = 1;          ///< tokens that occur less often are left out
  EBB_ARG(std::vector<std::string>, specials);  ///< come first, in this order
  EBB_ARG(optional<std::string>,
          unknown);  ///< what other tokens are taken for; comes first unless among the specials
};

/// Tokens, numbered: special ones first, then by how often they occur, and in alphabetical order where that
/// is equal.
class EBB_API Vocabulary {
 public:
  /// What a token is: a character of UTF-8 (a byte that is part of none stands for itself), or a word between
  /// spaces and line ends.
  enum class Unit { character, word };

  static Vocabulary from_characters(std::string_view text, const VocabularyOptions& options = {});
  static Vocabulary from_words(std::string_view text, const VocabularyOptions& options = {});

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  Unit unit() const { return unit_; }
  const std::vector<std::string>& tokens() const { return tokens_; }
  const std::string& token(std::int64_t index) const;
  bool contains(const std::string& token) const { return indices_.count(token) != 0; }
  /// The index of a token, or of the unknown one. Throws for others where there is no unknown one.
  std::int64_t index(const std::string& token) const;

  /// The tokens of a text, kLong [n].
  Variable encode(std::string_view text) const;
  /// The text of integers [n]: characters next to each other, words with a space between them.
  std::string decode(const Variable& indices) const;

  /// A file of lines: the unit, the unknown token, and all tokens, in which line ends and backslashes are
  /// written \n, \r and \\.
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

/// Windows of `length` tokens, each beginning `stride` after the one before (by default where that ends), and
/// as targets the tokens that follow each of theirs: {tokens[i, i + length), tokens[i + 1, i + length + 1)},
/// views, kLong. What is left at the end and fills no window is left out. Throws for fewer than length + 1
/// tokens.
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

/// Examples of sequences [L, *] of unequal lengths into a batch [n, longest, *], filled up at the ends with
/// padding_value; targets that are sequences likewise with target_padding_value (which cross_entropy ignores
/// unless told otherwise), single ones are stacked.
struct EBB_API PadSequence : Collation<Example<>> {
  explicit PadSequence(double padding_value = 0, double target_padding_value = -100)
      : padding_value(padding_value), target_padding_value(target_padding_value) {}
  Example<> apply_batch(std::vector<Example<>> examples) override;

  double padding_value, target_padding_value;
};

}  // namespace transforms
}  // namespace ebb::data
