// The pass recompute: some calls run a second time, so that their results need no memory in between.

#include "compile/fuse.h"
#include "ops/common/kernels.h"
#include "ops/norm/kernels.h"

#include <algorithm>

namespace ebb::detail::compile {
namespace {

// Collects the buffers that a call reads and writes. `repeatable` is true if a second run of the call has the
// same results as the first.
struct Accesses final : detail::ArgumentVisitor {
  const AccessIndex& index;
  std::vector<int> read, made;
  bool repeatable = true;

  explicit Accesses(const AccessIndex& of) : index(of) {}
  void array(NdArray& array) override {
    if (array.defined()) (written ? made : read).push_back(index.buffer(array));
  }
  void address(void*&) override { repeatable = false; }
  void words(Philox&) override { repeatable = false; }
  void plain(const void*, std::size_t) override {}
  void number(const void*, std::size_t, const std::type_info& type) override {
    repeatable = repeatable && type != typeid(Generator);
  }
};

// A temporary that no step accesses between the steps `from` and `to`. The call that makes it can run again
// before step `to`.
struct Candidate {
  int buffer, call, from, to;
  std::size_t bytes;
  std::vector<int> read;

  bool idle_at(int step) const { return from < step && step < to; }
  // Returns whether the second run reads the other buffer while that buffer is idle.
  bool needs(const Candidate& other) const {
    return std::find(read.begin(), read.end(), other.buffer) != read.end() && other.from < to &&
           to <= other.to;
  }
};

class Recompute {
 public:
  Recompute(Tape& tape, const AccessIndex& accesses) : tape_(tape), accesses_(accesses) {
    for (std::size_t step = 0; step < tape.steps.size(); ++step)
      step_of_.resize(static_cast<std::size_t>(tape.steps[step].last) + 1, static_cast<int>(step));
    for (const TapeStep& step : tape.steps)
      if (!step.program) add_candidate(step.first);
  }

  void run() {
    std::vector<std::size_t> live = live_bytes();
    while (!candidates_.empty()) {
      const auto peak = std::max_element(live.begin(), live.end());
      const auto at = static_cast<int>(peak - live.begin());
      const auto gain = [&](const Candidate& each) { return each.idle_at(at) ? each.bytes : 0; };
      const auto best =
          std::max_element(candidates_.begin(), candidates_.end(),
                           [&](const Candidate& a, const Candidate& b) { return gain(a) < gain(b); });
      count_comparisons(candidates_.size());
      if (gain(*best) < std::max<std::size_t>(*peak / kLeastShare, 1)) break;
      const Candidate chosen = *best;
      for (int step = chosen.from + 1; step < chosen.to; ++step)
        live[static_cast<std::size_t>(step)] -= chosen.bytes;
      std::erase_if(candidates_, [&](const Candidate& other) {
        return other.buffer == chosen.buffer || other.needs(chosen) || chosen.needs(other);
      });
      chosen_.push_back(chosen);
    }
    if (!chosen_.empty()) insert_steps();
  }

 private:
  // A buffer with a smaller share of the peak is not worth the time of a call.
  static constexpr std::size_t kLeastShare = 128;

  Buffer& buffer(int at) { return tape_.buffers[static_cast<std::size_t>(at)]; }
  bool is_temporary(int at) { return buffer(at).kind == Buffer::Kind::temporary; }
  int step_of(int call) const { return step_of_[static_cast<std::size_t>(call)]; }

  void add_candidate(int at) {
    TapeCall& call = tape_.calls[static_cast<std::size_t>(at)];
    const bool is_cheap =
        call.call->per_element() || call.call->as(kernels::layer_norm) || call.call->as(kernels::copy);
    if (!is_cheap || !call.allocated.empty()) return;
    Accesses of(accesses_);
    call.call->visit(of);
    const int made = of.made.front();
    const std::vector<int>& users = accesses_.calls(made);
    Buffer& result = buffer(made);
    if (!of.repeatable || !is_temporary(made) || accesses_.writers(made).size() != 1 || users.front() != at ||
        !result.placeholder->device().is_cpu())
      return;
    const auto idle_after = [&](auto use) { return step_of(*std::next(use)) - step_of(*use); };
    auto last = users.begin();
    for (auto use = users.begin(); std::next(use) != users.end(); ++use)
      if (idle_after(use) > idle_after(last)) last = use;
    if (std::next(last) == users.end() || idle_after(last) < 2) return;
    const int next = *std::next(last);
    const auto remains = [&](int other) {
      const Buffer::Kind kind = buffer(other).kind;
      const bool exists = kind == Buffer::Kind::temporary
                              ? buffer(other).last >= step_of(next)
                              : kind != Buffer::Kind::elided && kind != Buffer::Kind::from_kernel;
      return other == made || (exists && !accesses_.written_between(other, at, next));
    };
    const bool has_operands = std::find(of.read.begin(), of.read.end(), made) == of.read.end() &&
                              std::all_of(of.read.begin(), of.read.end(), remains) &&
                              std::all_of(of.made.begin(), of.made.end(), remains);
    if (has_operands)
      candidates_.push_back({made, at, step_of(*last), step_of(next), result.bytes, std::move(of.read)});
  }

  // Returns the bytes of temporaries during each step.
  std::vector<std::size_t> live_bytes() {
    std::vector<std::size_t> live(tape_.steps.size() + 1);  // first the changes from step to step
    std::vector<bool> shares(tape_.buffers.size());
    for (const Buffer& each : tape_.buffers) {
      if (each.kind != Buffer::Kind::temporary || each.first < 0) continue;
      live[static_cast<std::size_t>(each.first)] += each.bytes;
      live[static_cast<std::size_t>(each.last) + 1] -= each.bytes;
    }
    for (std::size_t step = 1; step < live.size(); ++step) live[step] += live[step - 1];
    for (const InPlaceReuse& each : tape_.reuses) {
      const auto from = static_cast<std::size_t>(each.from), to = static_cast<std::size_t>(each.to);
      if (!is_temporary(each.from) || !is_temporary(each.to) || shares[from] || shares[to]) continue;
      shares[from] = shares[to] = true;
      live[static_cast<std::size_t>(each.step)] -= buffer(each.to).bytes;
    }
    return live;
  }

  void insert_steps() {
    std::stable_sort(chosen_.begin(), chosen_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.to < b.to; });
    std::vector<TapeStep> steps;
    std::vector<int> moved(tape_.steps.size());
    auto next = chosen_.begin();
    for (std::size_t step = 0; step < tape_.steps.size(); ++step) {
      for (; next != chosen_.end() && next->to == static_cast<int>(step); ++next) {
        buffer(next->buffer).idle_first = moved[static_cast<std::size_t>(next->from)] + 1;
        buffer(next->buffer).idle_last = static_cast<int>(steps.size()) - 1;
        steps.push_back({next->call, next->call, nullptr});
      }
      moved[step] = static_cast<int>(steps.size());
      steps.push_back(std::move(tape_.steps[step]));
    }
    tape_.steps = std::move(steps);
    for (Buffer& each : tape_.buffers) {
      if (each.first < 0) continue;
      each.first = moved[static_cast<std::size_t>(each.first)];
      each.last = moved[static_cast<std::size_t>(each.last)];
    }
    for (InPlaceReuse& each : tape_.reuses) each.step = moved[static_cast<std::size_t>(each.step)];
  }

  Tape& tape_;
  const AccessIndex& accesses_;
  std::vector<int> step_of_;
  std::vector<Candidate> candidates_, chosen_;
};

}  // namespace

void recompute(Tape& tape, const AccessIndex& accesses) { Recompute(tape, accesses).run(); }

}  // namespace ebb::detail::compile
