// PTX syntax: splitting text, and parsing of literals and declarations.
#pragma once

#include "program.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::ptx {

/// Removes white space at both ends.
std::string_view trimmed(std::string_view text);
/// Splits at separators outside brackets, and trims the pieces.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Splits at white space.
std::vector<std::string_view> words(std::string_view text);
/// The position of the bracket that closes the one at `open`. Throws std::runtime_error if there is none.
std::size_t closing(std::string_view text, std::size_t open);
/// The text inside the first pair of brackets: "a" of "[a]".
std::string_view inside(std::string_view text);
/// Replaces comments by spaces.
std::string without_comments(std::string text);

// Literals and declarations, which occur inside and outside of bodies.

/// The bits of a literal as an operand of that type: 0f3F800000 and 0d3FF0000000000000 give the bits of
/// floats; other numbers are converted if the type is a float. Returns nothing if the text is not a literal.
std::optional<u64> literal(std::string_view text, Type type);

/// Reads ".align 16 .b8 name[40]", optionally after a state space. Several dimensions are multiplied.
Declaration read_declaration(std::string_view text);
/// Reads declarations separated by commas.
std::vector<Declaration> read_declarations(std::string_view text);

/// Rounds up to a multiple of `align`.
constexpr std::size_t aligned(std::size_t bytes, std::size_t align) {
  return (bytes + align - 1) / align * align;
}

}  // namespace ebb::ptx
