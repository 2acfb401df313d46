// Decodes the body of a PTX entry.
#pragma once

#include "program.h"
#include "syntax.h"

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::ptx {

/// An instruction or a form of one that the interpreter does not support.
struct Unknown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An instruction as text: "add.rn.f32 a, b, c". The decoder queries its modifiers; a modifier that was not
/// queried makes the instruction unknown, so that none is ignored silently.
class Statement {
 public:
  explicit Statement(std::string_view text);  // without its guard

  std::string_view opcode() const { return parts_.at(0); }
  const std::vector<std::string_view>& operands() const { return operands_; }
  std::string_view operand(std::size_t n) const;
  /// Whether it has the modifier.
  bool has(std::string_view modifier);
  /// The n-th type from the end of the modifiers.
  Type type(std::size_t from_end = 0);
  /// Accepts modifiers without effect here, such as cache hints.
  void ignore(std::initializer_list<std::string_view> modifiers);
  /// A modifier that was not queried, or an empty text.
  std::string_view unasked() const;
  /// The number of operands up to the last queried one.
  std::size_t asked_operands() const { return asked_operands_; }
  /// Throws Unknown unless the condition holds.
  void require(bool condition, const char* otherwise = "this form") const;

 private:
  std::vector<std::string_view> parts_, operands_;
  std::vector<bool> asked_;
  mutable std::size_t asked_operands_ = 0;
};

class Decoder {
 public:
  explicit Decoder(Entry& entry) : entry_(entry) {}
  void run();

  /// Returns the register with the value of an operand: a register, or a register that is filled with a
  /// literal, a special register or an address.
  int operand(std::string_view text, Type type);
  /// Returns the registers of "{a, b}" or "a". "_" gives kNone.
  std::vector<int> operands(std::string_view text, Type type);
  /// Returns a predicate that may be negated.
  int predicate(std::string_view text, bool& negated);
  /// "d|p": a result and an optional second one.
  void results(Instruction& instruction, std::string_view text, Type first, Type second);
  /// An address "[a+8]". Sets `from[0]`, `immediate`, `address_is_32`, and the space for parameters of
  /// functions.
  void address(Instruction& instruction, std::string_view text);
  int constant(u64 value, Special special = Special::none);

  /// Records a branch to a label or a table of labels, resolved when all labels are known.
  void jump(std::string_view label);
  int table(std::string_view label);
  /// Returns from a called function, or ends the entry.
  void leave(Instruction& instruction);

 private:
  struct Registers {  // "%r<100>" or "%r1"
    int first = 0, count = 0;
    Type type = Type::none;
  };
  struct Scope {
    std::map<std::string, Registers, std::less<>> registers;  // by prefix, or by name if count is 0
    std::map<std::string, std::string, std::less<>> locals;   // unique names of .local and .param variables
    std::string labels;  // appended to the names of labels: "#1#5", the numbers of the enclosing scopes
  };
  const Registers* registers_of(std::string_view name, int& reg) const;
  int register_named(std::string_view name) const;
  Type register_type(std::string_view name) const;
  std::string local_named(std::string_view name) const;
  int symbol(std::string_view name, s64 offset);
  int new_register() { return entry_.registers++; }

  void body(std::string_view text);
  std::size_t label(std::string_view text, std::size_t colon, std::string_view name);
  void statement(std::string_view text);
  void declare_registers(std::string_view text);
  void declare_local(std::string_view text);
  void call(std::string_view text, bool guarded);
  void emit(Instruction instruction, std::string_view text);
  void link();
  template <class Value>
  const Value& in_scopes(const std::map<std::string, Value, std::less<>>& known,
                         const std::string& name) const;

  Entry& entry_;
  std::vector<Scope> scopes_;
  std::map<std::string, int, std::less<>> labels_;
  std::vector<std::pair<std::size_t, std::string>> jumps_;              // instruction, label
  std::map<std::string, std::vector<std::string>, std::less<>> lists_;  // .branchtargets
  std::vector<std::string> tables_;  // the names of the lists by table number
  std::map<std::pair<u64, Special>, int> constants_;
  std::map<std::string, std::size_t, std::less<>> locals_, shared_;  // offsets
  std::vector<std::string> returns_;  // labels after the calls that are being inlined
  std::vector<std::string> calls_;    // names of the functions that are being inlined
  int unique_ = 0;
};

/// Instruction families. Each function decodes the instructions of its family and returns false for others.
bool decode_integer(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_bits(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_float(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_half(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_compare(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_convert(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_memory(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_atomic(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_control(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_warp(Decoder& decoder, Statement& statement, Instruction& instruction);
bool decode_matrix(Decoder& decoder, Statement& statement, Instruction& instruction);

/// Sets the state space from the modifiers.
void read_space(Statement& statement, Instruction& instruction);
/// Sets the rounding mode, .ftz and .sat from the modifiers.
void read_rounding(Statement& statement, Instruction& instruction);
/// Sets `to[0]` and `from[0..count)` from the operands, all of one type.
void read_operands(Decoder& decoder, const Statement& statement, Instruction& instruction, Type type,
                   std::size_t count);

}  // namespace ebb::ptx
