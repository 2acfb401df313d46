// Cutting text into pieces, and the parts of PTX's syntax that statements inside and outside of bodies share.
#pragma once

#include "program.h"

#include <optional>
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

// The parts of PTX's syntax that statements inside and outside of bodies share.

/// The bits of a literal as an operand of that type: 0f3F800000 and 0d3FF0000000000000 are floats by their
/// bits, other numbers are converted where the type is a float. Nothing where the text is no literal.
std::optional<u64> literal(std::string_view text, Type type);

/// Reads ".align 16 .b8 name[40]", with or without a state space in front. Several dimensions are multiplied.
Declaration read_declaration(std::string_view text);
/// Reads declarations between commas.
std::vector<Declaration> read_declarations(std::string_view text);

/// Rounds up to a multiple.
constexpr std::size_t aligned(std::size_t bytes, std::size_t align) {
  return (bytes + align - 1) / align * align;
}

}  // namespace ebb::ptx
