// A PTX program: its entries, functions and variables.
#pragma once

#include "instruction.h"
#include "interpreter.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::ptx {

/// Values of registers at the start of a block that are not literals: the offset of dynamic shared memory, or
/// a special register.
enum class Special : u8 {
  none,
  dynamic_shared,
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  clock
};

/// A register with a value that no instruction writes.
struct Constant {
  int reg = kNone;
  Special special = Special::none;
  u64 value = 0;  // added to the value of the special register
};

/// A variable declaration: .reg, .param, .local, .shared, .global or .const.
struct Declaration {
  std::string name;
  Type type = Type::none;
  std::size_t elements = 1;  // 0 for an array without a size
  std::size_t align = 1;
  std::size_t bytes() const { return elements * size_of(type); }
};

struct Function {
  std::vector<Declaration> returns, parameters;
  std::string body;  // empty for a declaration without a body
};

/// A kernel. Its body is decoded on first use.
struct Entry {
  std::string name;
  Module* module = nullptr;
  std::vector<Parameter> parameters;
  std::vector<std::string> parameter_names;
  unsigned most_threads = 1024;
  std::string body;

  bool decoded = false;
  std::vector<Instruction> code;
  std::vector<std::string> texts;        // of the instructions
  std::vector<std::vector<int>> tables;  // of brx.idx
  std::vector<Constant> constants;
  int registers = 0;
  std::size_t shared_bytes = 0, local_bytes = 0;
  std::map<std::string, long> unknown;

  const std::string& text_of(const Instruction& instruction) const;
};

/// A variable in memory of the interpreter: .global or .const.
struct Variable {
  std::unique_ptr<unsigned char[]> storage;
  u64 address = 0;
  std::size_t bytes = 0;
};

class Module {
 public:
  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries;
  std::map<std::string, Function, std::less<>> functions;
  std::map<std::string, Variable, std::less<>> variables;
  std::map<std::string, Declaration, std::less<>> shared;
  std::recursive_mutex mutex;  // held while an entry is decoded
};

/// Decodes the entry once.
void decode(Entry& entry);

}  // namespace ebb::ptx
