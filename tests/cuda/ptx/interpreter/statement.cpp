// An instruction as text, and the parts of decoding that all families share.
#include <algorithm>

#include "decoder.h"
#include "text.h"

namespace ebb::ptx {

Statement::Statement(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
  std::string_view name = text.substr(0, end);
  for (std::size_t dot; (dot = name.find('.')) != name.npos; name.remove_prefix(dot + 1))
    parts_.push_back(name.substr(0, dot));
  parts_.push_back(name);
  operands_ = split(text.substr(end), ',');
  asked_.resize(parts_.size());
}

std::string_view Statement::operand(std::size_t n) const {
  if (n >= operands_.size()) throw Unknown("an operand is missing");
  asked_operands_ = std::max(asked_operands_, n + 1);
  return operands_[n];
}

bool Statement::has(std::string_view modifier) {
  bool found = false;
  for (std::size_t n = 1; n < parts_.size(); ++n)
    if (parts_[n] == modifier) found = asked_[n] = true;
  return found;
}

Type Statement::type(std::size_t from_end) {
  if (from_end + 1 >= parts_.size()) return Type::none;
  const std::size_t n = parts_.size() - 1 - from_end;
  const Type type = type_named(parts_[n]);
  if (type != Type::none) asked_[n] = true;
  return type;
}

void Statement::ignore(std::initializer_list<std::string_view> modifiers) {
  for (const auto modifier : modifiers) has(modifier);
}

std::string_view Statement::unasked() const {
  for (std::size_t n = 1; n < parts_.size(); ++n)
    if (!asked_[n]) return parts_[n];
  return {};
}

void Statement::require(bool condition, const char* otherwise) const {
  if (!condition) throw Unknown(otherwise);
}

void read_space(Statement& statement, Instruction& instruction) {
  instruction.space =
      statement.has("global")                                   ? Space::global
      : statement.has("shared") || statement.has("shared::cta") ? Space::shared
      : statement.has("local")                                  ? Space::local
      : statement.has("param") || statement.has("param::entry") || statement.has("param::func")
          ? Space::parameter
      : statement.has("const") ? Space::constant
                               : Space::generic;
}

void read_operands(Decoder& decoder, const Statement& statement, Instruction& instruction, Type type,
                   std::size_t count) {
  statement.require(statement.operands().size() == count + 1, "the number of operands");
  instruction.to[0] = decoder.operand(statement.operand(0), type);
  for (std::size_t n = 0; n < count; ++n)
    instruction.from[n] = decoder.operand(statement.operand(n + 1), type);
}

}  // namespace ebb::ptx
