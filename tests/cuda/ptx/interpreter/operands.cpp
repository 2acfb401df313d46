// Decodes the text of instructions and their operands: registers, literals, special registers, addresses.
#include "decoder.h"
#include "syntax.h"

#include <algorithm>
#include <array>
#include <utility>

// The text of an instruction, and the parts of decoding that all families share.

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

// Decodes operands: registers, literals, special registers, addresses; and declares registers and local
// variables.

namespace {

constexpr std::array<std::pair<std::string_view, Special>, 26> kSpecials{{
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"%smid", Special::smid},
    {"%nsmid", Special::nsmid},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%dynamic_smem_size", Special::dynamic_smem_size},
    {"%total_smem_size", Special::total_smem_size},
    {"%clock", Special::clock},
    {"%clock64", Special::clock},
}};

Special special_named(std::string_view name) {
  for (const auto& [text, special] : kSpecials)
    if (text == name) return special;
  return Special::none;
}

// "a+8": the name, and the number after the sign.
std::pair<std::string_view, s64> name_and_offset(std::string_view text) {
  const std::size_t plus = text.find('+');
  if (plus == text.npos) return {trimmed(text), 0};
  const auto offset = literal(trimmed(text.substr(plus + 1)), Type::s64);
  return {trimmed(text.substr(0, plus)), static_cast<s64>(offset.value_or(0))};
}

}  // namespace

int Decoder::constant(u64 value, Special special) {
  const auto [place, fresh] = constants_.try_emplace({value, special}, 0);
  if (fresh) {
    place->second = new_register();
    entry_.constants.push_back({place->second, special, value});
  }
  return place->second;
}

const Decoder::Registers* Decoder::registers_of(std::string_view name, int& reg) const {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string_view prefix = name.substr(0, digits);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto one = scope->registers.find(name);
        one != scope->registers.end() && one->second.count == 0) {
      reg = one->second.first;
      return &one->second;
    }
    const auto many = scope->registers.find(prefix);
    if (digits == name.size() || many == scope->registers.end() || many->second.count == 0) continue;
    const auto number = literal(name.substr(digits), Type::u64).value_or(0);
    if (number >= static_cast<u64>(many->second.count)) continue;
    reg = many->second.first + static_cast<int>(number);
    return &many->second;
  }
  return nullptr;
}

int Decoder::register_named(std::string_view name) const {
  int reg = kNone;
  return registers_of(name, reg) != nullptr ? reg : kNone;
}

Type Decoder::register_type(std::string_view name) const {
  int reg = kNone;
  const Registers* found = registers_of(name, reg);
  return found != nullptr ? found->type : Type::none;
}

std::string Decoder::local_named(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->locals.find(name); found != scope->locals.end()) return found->second;
  return std::string(name);
}

// A register with the address of a variable in its state space, or kNone.
int Decoder::symbol(std::string_view name, s64 offset) {
  const u64 more = static_cast<u64>(offset);
  if (const auto local = locals_.find(local_named(name)); local != locals_.end())
    return constant(local->second + more);
  for (std::size_t n = 0; n < entry_.parameter_names.size(); ++n)
    if (entry_.parameter_names[n] == name) return constant(entry_.parameters[n].offset + more);
  Module& module = *entry_.module;
  if (const auto found = module.shared.find(name); found != module.shared.end()) {
    const Declaration& d = found->second;
    if (d.elements == 0) return constant(more, Special::dynamic_shared);
    const auto [place, fresh] = shared_.try_emplace(d.name, aligned(entry_.shared_bytes, d.align));
    if (fresh) entry_.shared_bytes = place->second + d.bytes();
    return constant(place->second + more);
  }
  if (const auto found = module.variables.find(name); found != module.variables.end())
    return constant(found->second.address + more);
  return kNone;
}

int Decoder::operand(std::string_view text, Type type) {
  if (text == "_") return kNone;
  if (const auto value = literal(text, type)) return constant(*value);
  if (text == "WARP_SZ") return constant(32);
  if (const Special special = special_named(text); special != Special::none) return constant(0, special);
  int reg = register_named(text);
  if (reg != kNone) return reg;
  const auto [name, offset] = name_and_offset(text);
  reg = symbol(name, offset);
  if (reg == kNone) throw Unknown("the operand " + std::string(text));
  return reg;
}

std::vector<int> Decoder::operands(std::string_view text, Type type) {
  std::vector<int> registers;
  if (!text.starts_with('{')) return {operand(text, type)};
  for (const auto piece : split(inside(text), ',')) registers.push_back(operand(piece, type));
  return registers;
}

int Decoder::predicate(std::string_view text, bool& negated) {
  negated = text.starts_with('!');
  return operand(negated ? text.substr(1) : text, Type::pred);
}

void Decoder::results(Instruction& instruction, std::string_view text, Type first, Type second) {
  const auto pieces = split(text, '|');
  instruction.to[0] = operand(pieces.at(0), first);
  if (pieces.size() > 1) instruction.to[1] = operand(pieces[1], second);
}

void Decoder::address(Instruction& instruction, std::string_view text) {
  const auto [name, offset] = name_and_offset(inside(text));
  if (const int reg = register_named(name); reg != kNone) {
    instruction.from[0] = reg;
    instruction.immediate = offset;
    instruction.address_is_32 = size_of(register_type(name)) == 4;
    return;
  }
  if (const auto value = literal(name, Type::u64)) {
    instruction.from[0] = constant(*value + static_cast<u64>(offset));
    return;
  }
  instruction.from[0] = symbol(name, offset);
  if (instruction.from[0] == kNone) throw Unknown("the address " + std::string(text));
  if (instruction.space == Space::parameter && locals_.contains(local_named(name)))
    instruction.space = Space::local;
}

// .reg .b32 %r<100>; or .reg .pred p, q;
void Decoder::declare_registers(std::string_view text) {
  text = trimmed(text.substr(4));
  const std::size_t space = text.find_first_of(" \t");
  const Type type = type_named(text.substr(1, space - 1));
  for (const auto name : split(text.substr(space), ',')) {
    const std::size_t angle = name.find('<');
    const int count =
        angle == name.npos
            ? 0
            : static_cast<int>(
                  literal(name.substr(angle + 1, name.find('>') - angle - 1), Type::s32).value_or(0));
    scopes_.back().registers[std::string(name.substr(0, angle))] = {entry_.registers, count, type};
    entry_.registers += std::max(count, 1);
  }
}

// .local .align 16 .b8 name[40]; or .param .b64 name;
void Decoder::declare_local(std::string_view text) {
  const Declaration d = read_declaration(text);
  const std::string unique = d.name + "#" + std::to_string(unique_++);
  const std::size_t place = aligned(entry_.local_bytes, std::max<std::size_t>(d.align, 8));
  locals_[unique] = place;
  entry_.local_bytes = place + d.bytes();
  scopes_.back().locals[d.name] = unique;
}

}  // namespace ebb::ptx
