// Text: the characters of a file as token ids.
#pragma once

#include <ebb/ebb.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

/// The bytes of a file. Each byte that occurs is a token, and the ids are in the order of the byte values.
class Text {
 public:
  /// Reads a file and holds out the last tenth. Throws if the file cannot be read or is too short for
  /// training.
  explicit Text(const std::string& path);

  const std::string& training() const { return training_; }
  const std::string& held_out() const { return held_out_; }
  std::int64_t vocab_size() const { return static_cast<std::int64_t>(characters_.size()); }
  /// Returns the ids, Long [T]. Throws for a character that does not occur in the file.
  ebb::Tensor encode(const std::string& text) const;
  std::string decode(const ebb::Tensor& ids) const;

 private:
  std::string training_, held_out_, characters_;
  std::array<std::int64_t, 256> numbers_;  // the id of each byte, or -1
};

/// Draws random windows from ids [T]. Returns the inputs [batch, block] and the targets [batch, block]. The
/// target of a character is the next character.
std::pair<ebb::Tensor, ebb::Tensor> draw_windows(const ebb::Tensor& ids, std::int64_t batch,
                                                 std::int64_t block);
