// Texts: a dataset of labelled texts.
#pragma once

#include <ebb/ebb.h>

#include <string>
#include <vector>

/// Texts and their labels. The tokens are bytes, so that every character of every language is known.
class Texts : public ebb::data::datasets::Dataset<Texts> {
 public:
  /// Reads lines "label<TAB>text" (UTF-8). Texts are truncated to `longest` bytes. Throws ebb::Error with the
  /// number of a line that has another form.
  Texts(const std::string& path, std::size_t longest);

  /// Returns the bytes of a text, kLong [length], and the index of its label in labels(), kLong [].
  ebb::data::Example<> get(std::size_t index) override;
  ebb::optional<std::size_t> size() const override { return texts_.size(); }
  const std::vector<std::string>& labels() const { return labels_; }
  const std::string& text(std::size_t index) const { return texts_.at(index); }

 private:
  std::vector<std::string> labels_, texts_;
  std::vector<std::int64_t> targets_;
};

/// Returns the bytes of a text, kLong [length].
ebb::Tensor bytes_of(const std::string& text);
