// Found by a walk over all arguments.
#include "compile/touches.h"

#include <algorithm>

namespace ebb::compiling {

Touches::Touches(const Tape& tape) : calls_(tape.places.size()) {
  for (std::size_t i = 0; i < tape.places.size(); ++i)
    places_[tape.places[i].stand_in.get()] = static_cast<int>(i);

  struct Visitor final : detail::ArgumentVisitor {
    Touches* touches;
    int call;
    void touch(int place) const {
      std::vector<int>& calls = touches->calls_[static_cast<std::size_t>(place)];
      if (calls.empty() || calls.back() != call) calls.push_back(call);
    }
    void array(NdArray& array) override {
      if (array.defined()) touch(touches->place(array));
    }
    void address(void*&) override {}
    void words(Philox&) override {}
    void plain(const void*, std::size_t) override {}
  } visitor;
  visitor.touches = this;
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    visitor.call = static_cast<int>(i);
    tape.calls[i].call->visit(visitor);
    for (const TapeCall::Address& each : tape.calls[i].addresses) visitor.touch(each.place);
    for (const TapeCall::Made& each : tape.calls[i].made) visitor.touch(each.place);
  }
}

bool Touches::between(int place, int first, int last) const {
  const std::vector<int>& all = calls(place);
  const auto next = std::upper_bound(all.begin(), all.end(), first);
  return next != all.end() && *next < last;
}

}  // namespace ebb::compiling
