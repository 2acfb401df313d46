// Labelled texts.
#pragma once

#include <ebb/ebb.h>

#include <string>
#include <vector>

/// Texts and their labels. The alphabet is that of bytes: no character of any language is unknown.
class Texts : public ebb::data::datasets::Dataset<Texts> {
 public:
  /// Reads lines "label<TAB>text" (UTF-8). Of longer texts the first `longest` bytes are taken. Throws
  /// ebb::Error that names the line which is not so.
  Texts(const std::string& path, std::size_t longest);

  /// The bytes of a text, kLong [length], and the place of its label in labels(), kLong [].
  ebb::data::Example<> get(std::size_t index) override;
  ebb::optional<std::size_t> size() const override { return texts_.size(); }
  const std::vector<std::string>& labels() const { return labels_; }
  const std::string& text(std::size_t index) const { return texts_.at(index); }

 private:
  std::vector<std::string> labels_, texts_;
  std::vector<std::int64_t> targets_;
};

/// The bytes of a text, kLong [length].
ebb::Tensor bytes_of(const std::string& text);
