// The flow of control: branches, ends, and barriers of the block.
#include "decoder.h"
#include "machine.h"

namespace ebb::ptx {
namespace {

void trap(Warp& warp, const Instruction&, Lanes lanes) {
  warp.block->fail(Status::launch_failure, "The kernel traps.",
                   static_cast<unsigned>(std::countr_zero(lanes)));
}

// bar.sync n; bar.red.popc.u32 d, n, p;
void decode_barrier(Decoder& decoder, Statement& s, Instruction& i) {
  i.flow = Flow::barrier;
  s.ignore({"sync", "red", "cta", "aligned", "arrive"});
  const bool reduces = s.operands().size() == 3;
  i.join = s.has("popc")  ? Join::population
           : s.has("and") ? Join::conjunction
           : s.has("or")  ? Join::disjunction
                          : Join::none;
  s.require(!s.has("arrive") && reduces == (i.join != Join::none) && (reduces || s.operands().size() == 1),
            "a barrier for some of the threads");
  const std::size_t first = reduces ? 1 : 0;
  if (reduces) {
    i.to[0] = decoder.operand(s.operand(0), s.type());
    i.from[1] = decoder.predicate(s.operand(2), i.negated);
  }
  i.from[0] = decoder.operand(s.operand(first), Type::u32);
}

}  // namespace

bool decode_control(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op == "bra") {
    s.ignore({"uni"});
    i.flow = Flow::branch;
    decoder.jump(s.operand(0));
  } else if (op == "brx") {
    s.ignore({"idx", "uni"});
    i.flow = Flow::table;
    i.from[0] = decoder.operand(s.operand(0), Type::u32);
    i.target = decoder.table(s.operand(1));
  } else if (op == "ret") {
    s.ignore({"uni"});
    decoder.leave(i);
  } else if (op == "exit") {
    i.flow = Flow::exit;
  } else if (op == "trap") {
    i.execute = trap;
  } else if ((op == "bar" || op == "barrier") && !s.has("warp")) {
    decode_barrier(decoder, s, i);
  } else {
    return false;
  }
  return true;
}

}  // namespace ebb::ptx
