// A text as numbered characters.
#pragma once

#include <ebb/ebb.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

/// A file's bytes; each that occurs is a token, numbered in the order of their codes.
class Text {
 public:
  /// The last tenth is held out. Throws for a file that cannot be read or is too short to learn from.
  explicit Text(const std::string& path);

  const std::string& training() const { return training_; }
  const std::string& held_out() const { return held_out_; }
  std::int64_t vocab_size() const { return static_cast<std::int64_t>(characters_.size()); }
  /// Long [T]. Throws for a character that the text does not have.
  ebb::Tensor encode(const std::string& text) const;
  std::string decode(const ebb::Tensor& ids) const;

 private:
  std::string training_, held_out_, characters_;
  std::array<std::int64_t, 256> numbers_;  // of characters, or -1
};

/// Windows drawn from ids [T]: inputs [batch, block], and for each character of them the next one.
std::pair<ebb::Tensor, ebb::Tensor> draw_windows(const ebb::Tensor& ids, std::int64_t batch,
                                                 std::int64_t block);
