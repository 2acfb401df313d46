// Removes statements in ever smaller runs, then calls, results and modes (delta debugging, Zeller 1999).
#include "random_programs/shrink.h"

namespace programs {
namespace {

using Fails = std::function<bool(const Program&)>;

// Takes runs of elements out of a list of the program, as long as the program fails.
template <class List>
bool thin_out(Program& program, List Program::*list, const Fails& fails) {
  bool any = false;
  for (std::size_t run = (program.*list).size(); run > 0; run /= 2)
    for (std::size_t at = 0; at + run <= (program.*list).size();) {
      Program less = program;
      auto& elements = less.*list;
      const auto first = elements.begin() + static_cast<std::ptrdiff_t>(at);
      elements.erase(first, first + static_cast<std::ptrdiff_t>(run));
      if (fails(less)) {
        program = std::move(less);
        any = true;
      } else {
        ++at;
      }
    }
  return any;
}

bool thin_out_calls(Program& program, const Fails& fails) {
  bool any = false;
  for (std::size_t call = program.between.size(); call-- > 0;)
    for (std::size_t at = program.between[call].size(); at-- > 0;) {
      Program less = program;
      less.between[call].erase(less.between[call].begin() + static_cast<std::ptrdiff_t>(at));
      if (!fails(less)) continue;
      program = std::move(less);
      any = true;
    }
  return any;
}

bool drop_modes(Program& program, const Fails& fails) {
  bool any = false;
  for (std::size_t i = 0; i < program.body.size(); ++i)
    for (unsigned mode : {kNoGrad, kAutocast, kCheckpointed}) {
      if (!(program.body[i].modes & mode)) continue;
      Program less = program;
      less.body[i].modes &= ~mode;
      if (!fails(less)) continue;
      program = std::move(less);
      any = true;
    }
  return any;
}

}  // namespace

Program shrink(Program program, const Fails& fails) {
  for (bool smaller = true; smaller;) {
    smaller = thin_out(program, &Program::body, fails);
    smaller |= thin_out(program, &Program::between, fails);
    smaller |= thin_out_calls(program, fails);
    smaller |= thin_out(program, &Program::setup, fails);
    smaller |= thin_out(program, &Program::results, fails);
    smaller |= drop_modes(program, fails);
  }
  return program;
}

}  // namespace programs
