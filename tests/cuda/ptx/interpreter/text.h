// Cutting text into pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ebb::ptx {

/// Without white space at both ends.
std::string_view trimmed(std::string_view text);
/// The pieces between separators that stand in no bracket, without white space at their ends.
std::vector<std::string_view> split(std::string_view text, char separator);
/// The pieces between white space.
std::vector<std::string_view> words(std::string_view text);
/// The place of the bracket that closes the one at `open`. Throws std::runtime_error where none does.
std::size_t closing(std::string_view text, std::size_t open);
/// The text inside the first pair of brackets: "a" of "[a]".
std::string_view inside(std::string_view text);
/// With comments replaced by spaces.
std::string without_comments(std::string text);

}  // namespace ebb::ptx
