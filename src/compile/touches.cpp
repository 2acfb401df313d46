// Found by a walk over all arguments.
#include "compile/touches.h"

#include <algorithm>

namespace ebb::compiling {

Touches::Touches(const Tape& tape) : calls_(tape.places.size()), writers_(tape.places.size()) {
  for (std::size_t i = 0; i < tape.places.size(); ++i)
    places_[tape.places[i].stand_in.get()] = static_cast<int>(i);

  struct Visitor final : detail::ArgumentVisitor {
    Touches* touches;
    int call;
    void touch(int place, bool writes) const {
      const auto add = [&](std::vector<int>& calls) {
        if (calls.empty() || calls.back() != call) calls.push_back(call);
      };
      add(touches->calls_[static_cast<std::size_t>(place)]);
      if (writes) add(touches->writers_[static_cast<std::size_t>(place)]);
    }
    void array(NdArray& array) override {
      if (array.defined()) touch(touches->place(array), written);
    }
    void address(void*&) override {}
    void words(Philox&) override {}
    void plain(const void*, std::size_t) override {}
  } visitor;
  visitor.touches = this;
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    visitor.call = static_cast<int>(i);
    tape.calls[i].call->visit(visitor);
    for (const TapeCall::Address& each : tape.calls[i].addresses) visitor.touch(each.place, true);
    for (const TapeCall::Made& each : tape.calls[i].made) visitor.touch(each.place, true);
  }
}

namespace {

bool any_between(const std::vector<int>& calls, int first, int last) {
  const auto next = std::upper_bound(calls.begin(), calls.end(), first);
  return next != calls.end() && *next < last;
}

}  // namespace

bool Touches::between(int place, int first, int last) const { return any_between(calls(place), first, last); }
int Touches::last_before(int place, int before) const {
  const auto next = std::lower_bound(calls(place).begin(), calls(place).end(), before);
  return next == calls(place).begin() ? -1 : *std::prev(next);
}
bool Touches::written_between(int place, int first, int last) const {
  return any_between(writers(place), first, last);
}

}  // namespace ebb::compiling
