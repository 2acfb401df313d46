// Which streams of a program the operands of its calls are.
#pragma once

#include "compile/element_call.h"

#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ebb::compiling {

/// For a RowProgram or a DeviceChain that is put together. `passes` tells which places nobody else needs.
template <class Program>
class ProgramStreams {
 public:
  ProgramStreams(Tape& tape, Program& program, std::function<bool(int)> passes)
      : tape_(tape), program_(program), passes_(std::move(passes)) {}

  /// The stream of what is in memory, or would be.
  int of(const ElementOperand& x) {
    for (const auto& [operand, stream] : known_[x.place])
      if (operand.same_elements(x)) return stream;
    if (passes_(x.place)) {
      pass(x, program_.add_buffer(x.dtype));
    } else {
      const Storage& storage = *place(x.place).stand_in;
      known_[x.place].emplace_back(x, program_.add_memory(storage, x.offset, x.dtype, x.still));
    }
    return known_[x.place].back().second;
  }
  /// The stream of an input.
  int of_input(const ElementCall& call, int i) {
    const ElementOperand& x = call.in[i];
    return x.place >= 0 ? of(x) : program_.add_number(call.row.operands[i].number, x.dtype);
  }
  /// What the stream holds is in no memory.
  void pass(const ElementOperand& x, int stream) {
    passing_.push_back(x.place);
    known_[x.place].emplace_back(x, stream);
  }
  /// Once the program stands: its passing places need no memory.
  void settle() {
    for (const int at : passing_) place(at).kind = Place::Kind::passing;
  }

 private:
  Place& place(int at) { return tape_.places[static_cast<std::size_t>(at)]; }

  Tape& tape_;
  Program& program_;
  const std::function<bool(int)> passes_;
  std::unordered_map<int, std::vector<std::pair<ElementOperand, int>>> known_;  // by place
  std::vector<int> passing_;
};

}  // namespace ebb::compiling
