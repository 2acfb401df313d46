// PTX syntax: splitting text, names and sizes of types, and parsing of literals and declarations.
#include "syntax.h"

#include "instruction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

// Splitting text.

namespace ebb::ptx {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
bool opens(char c) { return c == '{' || c == '[' || c == '('; }
bool closes(char c) { return c == '}' || c == ']' || c == ')'; }

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (opens(text[n])) ++depth;
    if (closes(text[n])) --depth;
    if (text[n] == separator && depth == 0) {
      pieces.push_back(trimmed(text.substr(start, n - start)));
      start = n + 1;
    }
  }
  if (const auto rest = trimmed(text.substr(start)); !rest.empty()) pieces.push_back(rest);
  return pieces;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = text.find_first_not_of(kSpace); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    pieces.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kSpace, end);
  }
  return pieces;
}

std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t n = open; n < text.size(); ++n) {
    if (opens(text[n])) ++depth;
    if (closes(text[n]) && --depth == 0) return n;
  }
  throw std::runtime_error("PTX: a bracket is not closed: " + std::string(text.substr(open, 60)));
}

std::string_view inside(std::string_view text) {
  const std::size_t open = text.find_first_of("{[(");
  if (open == text.npos) return text;
  return trimmed(text.substr(open + 1, closing(text, open) - open - 1));
}

std::string without_comments(std::string text) {
  for (std::size_t at = text.find('/'); at != text.npos; at = text.find('/', at + 1)) {
    if (text.compare(at, 2, "//") == 0) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      for (; at < end; ++at) text[at] = ' ';
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
      for (; at < end; ++at) text[at] = ' ';
    }
  }
  return text;
}

// The types of PTX: names and sizes.

namespace {

constexpr std::array<std::pair<std::string_view, Type>, 20> kNames{
    {{"pred", Type::pred}, {"b8", Type::b8},       {"b16", Type::b16},       {"b32", Type::b32},
     {"b64", Type::b64},   {"b128", Type::b128},   {"u8", Type::u8},         {"u16", Type::u16},
     {"u32", Type::u32},   {"u64", Type::u64},     {"s8", Type::s8},         {"s16", Type::s16},
     {"s32", Type::s32},   {"s64", Type::s64},     {"f16", Type::f16},       {"bf16", Type::bf16},
     {"f32", Type::f32},   {"f16x2", Type::f16x2}, {"bf16x2", Type::bf16x2}, {"f64", Type::f64}}};

}  // namespace

Type type_named(std::string_view name) {
  for (const auto& [text, type] : kNames)
    if (text == name) return type;
  return Type::none;
}

unsigned size_of(Type type) {
  switch (type) {
    case Type::pred:
    case Type::b8:
    case Type::u8:
    case Type::s8:
      return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
      return 2;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return 8;
    case Type::b128:
      return 16;
    default:
      return 4;
  }
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

// Parsing of literals and declarations, which occur inside and outside of bodies.

namespace {

u64 bits_of(double value, Type type) {
  if (type == Type::f32) return std::bit_cast<u32>(static_cast<float>(value));
  return std::bit_cast<u64>(value);
}

}  // namespace

std::optional<u64> literal(std::string_view view, Type type) {
  const std::string text(view);
  if (text.empty()) return std::nullopt;
  const bool sign = text[0] == '-' || text[0] == '+';
  const std::size_t digits = sign ? 1 : 0;
  if (digits == text.size() || std::isdigit(static_cast<unsigned char>(text[digits])) == 0)
    return std::nullopt;
  const char kind = text.size() > 2 && text[0] == '0' ? text[1] : '\0';
  char* end = nullptr;
  u64 value = 0;
  if (kind == 'f' || kind == 'F') {
    const u32 bits = static_cast<u32>(std::strtoul(text.c_str() + 2, &end, 16));
    value = type == Type::f64 ? bits_of(std::bit_cast<float>(bits), Type::f64) : bits;
  } else if (kind == 'd' || kind == 'D') {
    const u64 bits = std::strtoull(text.c_str() + 2, &end, 16);
    value = type == Type::f32 ? bits_of(std::bit_cast<double>(bits), Type::f32) : bits;
  } else if (text.find('.') != text.npos) {
    value = bits_of(std::strtod(text.c_str(), &end), type);
  } else {
    const bool binary = text.compare(digits, 2, "0b") == 0 || text.compare(digits, 2, "0B") == 0;
    const u64 size = std::strtoull(text.c_str() + digits + (binary ? 2 : 0), &end, binary ? 2 : 0);
    if (*end == 'U') ++end;
    value = text[0] == '-' ? u64{0} - size : size;
    if (is_float(type)) value = bits_of(static_cast<double>(static_cast<s64>(value)), type);
  }
  if (*end != '\0') return std::nullopt;
  return value;
}

Declaration read_declaration(std::string_view text) {
  Declaration made;
  bool pointer = false;
  const auto all = words(text);
  for (std::size_t n = 0; n < all.size(); ++n) {
    const std::string_view word = all[n];
    if (word == ".ptr") {
      pointer = true;
    } else if (word == ".align") {
      // The alignment of the target of a pointer does not affect the pointer.
      const auto value = literal(all.at(++n), Type::u64);
      if (!pointer) made.align = value.value_or(1);
    } else if (word[0] == '.') {
      if (const Type type = type_named(word.substr(1)); type != Type::none) made.type = type;
    } else {
      made.name += word;
    }
  }
  made.align = std::max<std::size_t>(made.align, size_of(made.type));
  if (const std::size_t open = made.name.find('['); open != made.name.npos) {
    for (std::size_t at = open; at != made.name.npos; at = made.name.find('[', at + 1))
      made.elements *= std::strtoul(made.name.c_str() + at + 1, nullptr, 10);
    made.name.resize(open);
  }
  return made;
}

std::vector<Declaration> read_declarations(std::string_view text) {
  std::vector<Declaration> made;
  for (const auto piece : split(text, ',')) made.push_back(read_declaration(piece));
  return made;
}

}  // namespace ebb::ptx
