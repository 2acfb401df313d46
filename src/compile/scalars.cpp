// Where calls on single numbers stand.
#include "compile/scalars.h"

#include <algorithm>
#include <utility>

#include "compile/touches.h"

namespace ebb::compiling {
namespace {

// The places that a call touches, if all it touches are single elements of a device, and what it writes is
// new.
struct Scalars final : detail::ArgumentVisitor {
  const Touches& touches;
  const int call;
  bool all = true;
  std::vector<int> read, made;

  Scalars(const Touches& of, int at) : touches(of), call(at) {}
  void array(NdArray& array) override {
    if (!array.defined()) return;
    const int place = touches.place(array);
    all = all && array.numel() == 1 && !array.device().is_cpu() &&
          (!written || touches.calls(place).front() == call);
    (written ? made : read).push_back(place);
  }
  void address(void*&) override { all = false; }
  void words(Philox&) override { all = false; }
  void plain(const void*, std::size_t) override {}
  void number(const void*, std::size_t, const std::type_info& type) override {
    all = all && type != typeid(Generator);
  }
};

enum class When : std::uint8_t { first, in_order, last };

class Order {
 public:
  explicit Order(const Tape& tape) : touches_(tape), when_(tape.calls.size(), When::in_order) {
    std::vector<Scalars> scalars;
    for (std::size_t i = 0; i < when_.size(); ++i) {
      const TapeCall& call = tape.calls[i];
      Scalars& of = scalars.emplace_back(touches_, static_cast<int>(i));
      call.call->visit(of);
      of.all = of.all && !of.made.empty() && call.made.empty();
      if (of.all && can_begin(of)) when_[i] = When::first;
    }
    for (std::size_t i = when_.size(); i-- > 0;)
      if (scalars[i].all && when_[i] == When::in_order && can_end(scalars[i])) when_[i] = When::last;
  }
  When of(std::size_t call) const { return when_[call]; }

 private:
  bool are(When when, std::vector<int>::const_iterator from, std::vector<int>::const_iterator to) const {
    return std::all_of(from, to, [&](int call) { return when_[static_cast<std::size_t>(call)] == when; });
  }

  // What it reads is there before any other call.
  bool can_begin(const Scalars& of) const {
    return std::all_of(of.read.begin(), of.read.end(), [&](int place) {
      const std::vector<int>& writers = touches_.writers(place);
      return are(When::first, writers.begin(), std::lower_bound(writers.begin(), writers.end(), of.call));
    });
  }
  // Nobody else needs what it makes, nor writes what it reads.
  bool can_end(const Scalars& of) const {
    const auto after = [&](const std::vector<int>& calls) {
      return are(When::last, std::upper_bound(calls.begin(), calls.end(), of.call), calls.end());
    };
    return std::all_of(of.made.begin(), of.made.end(),
                       [&](int place) { return after(touches_.calls(place)); }) &&
           std::all_of(of.read.begin(), of.read.end(),
                       [&](int place) { return after(touches_.writers(place)); });
  }

  const Touches touches_;
  std::vector<When> when_;
};

}  // namespace

void move_scalars(Tape& tape) {
  const Order order(tape);
  std::vector<TapeCall> ordered;
  ordered.reserve(tape.calls.size());
  for (const When when : {When::first, When::in_order, When::last})
    for (std::size_t i = 0; i < tape.calls.size(); ++i)
      if (order.of(i) == when) ordered.push_back(std::move(tape.calls[i]));
  tape.calls = std::move(ordered);
}

}  // namespace ebb::compiling
