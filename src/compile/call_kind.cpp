// When a kind of calls is recorded, replayed, or eager for good.
#include "compile/call_kind.h"

#include <ebb/core/warning.h>

#include <algorithm>
#include <utility>

#include "autograd/tensor_state.h"
#include "compile/device_tape.h"
#include "compile/emit.h"
#include "compile/fuse.h"

namespace ebb::compiling {
namespace {

constexpr int kMostRecordings = 6;      // in a row, until two of them are the same
constexpr int kMostRefusals = 3;        // in a row: the first calls may make what later ones find
constexpr int kMostWasted = 3;          // tapes in a row that were given up before a replay
constexpr std::size_t kMostPassed = 8;  // tensors that are remembered as arguments

std::string first_difference(const Tape& a, const Tape& b) {
  const std::size_t calls = std::min(a.marks.size(), b.marks.size()) - 1;  // the last ends the last call
  for (std::size_t i = 0; i < calls; ++i) {
    const auto print_of = [i](const Tape& t) {
      return std::string_view(t.print).substr(t.marks[i].at, t.marks[i + 1].at - t.marks[i].at);
    };
    if (print_of(a) != print_of(b))
      return detail::text("two calls in a row did different things, first at kernel call ", std::uint64_t{i},
                          ": ", a.marks[i].name, " and ", b.marks[i].name);
  }
  if (a.marks.size() != b.marks.size())
    return detail::text("two calls in a row did different things: ", std::uint64_t{a.marks.size() - 1},
                        " and ", std::uint64_t{b.marks.size() - 1}, " kernel calls");
  return "two calls in a row left different results or gradients";
}

}  // namespace

bool CallKind::fits(const std::vector<Variable>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Input& input = inputs_[i];
    if (!input.same_memory || !tensors[i].defined()) continue;
    if (tensors[i].array().storage() != input.memory->storage) return false;
    if (input.same_offset && tensors[i].storage_offset() != input.offset) return false;
    if (input.memory->state != input.known.state || !only_passed_are_gone(input)) return false;
    note_passed(input.memory.get(), tensors[i]);
  }
  return holds(*settled, tensors);
}

// Younger tensors are not counted when they are destroyed.
void CallKind::note_passed(const detail::ReadStorage* memory, const Variable& x) {
  if (!detail::is_older(x.impl()->born, memory->recording)) return;
  const std::uint64_t which = detail::number_of(autograd::aged(*x.impl()));
  const auto same = [&](const Passed& each) { return each.memory == memory && each.which == which; };
  if (std::any_of(passed_.begin(), passed_.end(), same)) return;
  if (passed_.size() == kMostPassed) passed_.erase(passed_.begin());
  passed_.push_back({memory, which});
}

// Some of those that were passed, whichever: they are few.
bool CallKind::only_passed_are_gone(Input& input) {
  if (input.known.none_gone(*input.memory)) return true;
  std::vector<std::uint64_t> passed;
  for (const Passed& each : passed_)
    if (each.memory == input.memory.get()) passed.push_back(each.which);
  const std::uint64_t gone = input.known.gone;
  for (std::uint64_t some = 1; some < std::uint64_t{1} << passed.size(); ++some) {
    input.known.gone = gone;
    for (std::size_t i = 0; i < passed.size(); ++i)
      if (some >> i & 1) input.known.gone ^= passed[i];
    if (!input.known.none_gone(*input.memory)) continue;
    for (std::size_t i = 0; i < passed.size(); ++i)
      if (some >> i & 1) std::erase_if(passed_, [&](const Passed& each) { return each.which == passed[i]; });
    for (Input& each : inputs_)
      if (each.memory == input.memory) each.known = input.known;
    return true;
  }
  input.known.gone = gone;
  return false;
}

void CallKind::stay_eager(const std::string& why) {
  eager = true;
  reason = why;
  settled.reset();
  last_.reset();
  inputs_.clear();
  passed_.clear();
  warn(Warning("compile: the function stays eager: " + reason + "."));
}

void CallKind::unsettle() {
  wasted_ = replays == 0 ? wasted_ + 1 : 0;
  last_ = std::move(settled);
  recordings_ = 0;
  reason = "what it reads has been replaced; it is being recorded again";
  if (wasted_ >= kMostWasted) stay_eager("what it reads is replaced from call to call");
}

void CallKind::refused(const std::string& why) {
  last_.reset();
  reason = why;
  if (++refusals_ >= kMostRefusals) stay_eager(why);
}

void CallKind::recorded(Recording& recording, const std::vector<Variable>& tensors,
                        const std::vector<Variable>& results, bool fuse_on_devices) {
  std::unique_ptr<Tape> tape = recording.finish(results);
  if (!tape) return refused(recording.reason());
  refusals_ = 0;
  std::vector<Input> now;
  for (const Variable& x : tensors) {
    Input& input = now.emplace_back();
    if (!x.defined()) continue;
    input.memory = detail::read_by_tape(x.array().storage(), recording.number());
    input.offset = x.storage_offset();
    note_passed(input.memory.get(), x);
  }
  const std::uint32_t before = std::exchange(recorded_, recording.number());
  if (last_ && last_->print == tape->print) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      // Views that the caller makes for a call and drops afterwards are younger than the recording before.
      if (now[i].memory) now[i].known = detail::ReadState(*now[i].memory, before);
      now[i].same_memory = now[i].memory == inputs_[i].memory;
      now[i].same_offset = now[i].offset == inputs_[i].offset;
      if (!now[i].same_memory) now[i].memory.reset();
    }
    // The destruction of captured tensors in an argument's memory is noticed too, by its known state.
    const auto let_go = [&](Borrowed& x) {
      if (x->defined() && detail::is_older(x->impl()->born, before) && x->impl()->born % 2 == 0) x.let_go();
    };
    for (TapeLeaf& leaf : tape->leaves) let_go(leaf.leaf);
    for (TapeOutput& output : tape->outputs) let_go(output.found);
    settle(std::move(tape), tensors, fuse_on_devices);
    inputs_ = std::move(now);
    return;
  }
  reason = last_ ? first_difference(*last_, *tape) : "it has not been called twice yet";
  last_ = std::move(tape);
  inputs_ = std::move(now);
  if (++recordings_ >= kMostRecordings) stay_eager(reason);
}

// A tape that cannot be prepared is none.
void CallKind::settle(std::unique_ptr<Tape> tape, const std::vector<Variable>& tensors,
                      bool fuse_on_devices) {
  fuse(*tape, fuse_on_devices);
  plan_memory(*tape);
  prepare_for_device(*tape, tensors);
  arguments = arguments_of(tensors);
  settled = std::move(tape);
  last_.reset();
  reason.clear();
  recordings_ = 0;
  replays = 0;
}

}  // namespace ebb::compiling
