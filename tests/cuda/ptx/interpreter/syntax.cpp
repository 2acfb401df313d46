// The parts of PTX's syntax that statements inside and outside of bodies share.
#include "syntax.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <string>

#include "text.h"

namespace ebb::ptx {
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
      // The alignment of what a pointer points to says nothing of the pointer.
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
