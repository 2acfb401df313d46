// The pass fuse: combines elementwise calls, the producers before them and the reductions after them into
// programs.

#include "compile/fuse.h"

#include "compile/programs.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ebb::detail::compile {

/// Maps operands to the streams of a LoopProgram or DeviceChain under construction. `can_elide` returns
/// whether no call outside the program accesses a buffer.
template <class Program>
class ProgramStreams {
 public:
  ProgramStreams(Tape& tape, Program& program, std::function<bool(int)> can_elide)
      : tape_(tape), program_(program), can_elide_(std::move(can_elide)) {}

  /// Returns the stream of an operand, which is in memory or elided.
  int stream_of(const ElementOperand& x) {
    for (const auto& [operand, stream] : known_[x.buffer])
      if (operand.same_elements(x)) return stream;
    if (can_elide_(x.buffer)) {
      elide(x, program_.add_buffer(x.dtype));
    } else {
      const Storage& storage = *buffer(x.buffer).placeholder;
      known_[x.buffer].emplace_back(x, program_.add_memory(storage, x.offset, x.dtype, x.broadcast));
    }
    return known_[x.buffer].back().second;
  }
  /// Returns the stream of the call's input i.
  int stream_of_input(const ElementCall& call, int i) {
    const ElementOperand& x = call.in[i];
    return x.buffer >= 0 ? stream_of(x) : program_.add_number(call.row.numbers[i], x.dtype);
  }
  /// Elides the operand, so that only the stream holds its elements.
  void elide(const ElementOperand& x, int stream) {
    elided_.push_back(x.buffer);
    known_[x.buffer].emplace_back(x, stream);
  }
  /// Marks the elided buffers, once the program is complete.
  void mark_elided() {
    for (const int at : elided_) buffer(at).kind = Buffer::Kind::elided;
  }

 private:
  Buffer& buffer(int at) { return tape_.buffers[static_cast<std::size_t>(at)]; }

  Tape& tape_;
  Program& program_;
  const std::function<bool(int)> can_elide_;
  std::unordered_map<int, std::vector<std::pair<ElementOperand, int>>> known_;  // keyed by buffer
  std::vector<int> elided_;
};

namespace {

// Up to this number of elements, a program is faster than a kernel call even if it contains only one call.
constexpr std::int64_t kShort = 4096;
// The smallest size in bytes of a buffer for which a search for in-place reuse is worthwhile.
constexpr std::size_t kWorthReuse = 4096;

class Fuser {
 public:
  Fuser(Tape& tape, const AccessIndex& accesses, bool on_devices)
      : tape_(tape), accesses_(accesses), on_devices_(on_devices) {}

  void run() {
    const auto calls = static_cast<int>(tape_.calls.size());
    for (int at = 0; at < calls; ++at) {
      std::optional<ElementCall> row = element_call_at(at);
      if (!(row && group_.is_open() && group_.joins(*row))) {
        if (group_.is_open() && add_reduction(at)) continue;
        close();
      }
      if (row)
        group_.add(at, std::move(*row));
      else if (!begins_with_producer(at))
        add_single_step(at);
    }
    close();
    set_live_ranges();
  }

 private:
  std::optional<ElementCall> element_call_at(int at) const {
    std::optional<ElementCall> found = element_call(tape_.calls[static_cast<std::size_t>(at)], accesses_);
    if (found && !found->device.is_cpu() && !on_devices_) found.reset();
    return found;
  }

  bool begins_with_producer(int at) {
    std::unique_ptr<Producer> call = producer_of(tape_.calls[static_cast<std::size_t>(at)]);
    if (!call || at + 1 == static_cast<int>(tape_.calls.size())) return false;
    ElementGroup::GroupProducer producer{
        nullptr, operand_of(call->out(), accesses_), call->out().numel(), {}};
    for (const NdArray* x : call->reads())
      if (x->defined()) producer.reads.insert(accesses_.buffer(*x));
    producer.call = std::move(call);
    const std::optional<ElementCall> next = element_call_at(at + 1);
    bool consumed = false;
    if (next && next->count == producer.count)
      for (const ElementOperand* each : next->in_memory())
        consumed = consumed || (each != &next->out && each->buffer == producer.out.buffer &&
                                each->same_elements(producer.out));
    if (!consumed || producer.reads.contains(next->out.buffer)) return false;
    group_.begin(at, std::move(producer));
    return true;
  }

  bool add_reduction(int at) {
    const std::optional<ElementReductionCall> found =
        element_reduction_call(tape_.calls[static_cast<std::size_t>(at)], accesses_);
    if (!found || !group_.joins(*found)) return false;
    if (blocks_save_memory()) return false;  // the blocks of a producer differ from those of a reduction
    drop_producer();
    group_.add(at, *found);
    return true;
  }

  // Adds a step of one call.
  void add_single_step(int at) {
    tape_.steps.push_back({at, at, nullptr});
    for (const auto& [from, to] : in_place(tape_.calls[static_cast<std::size_t>(at)], at, accesses_))
      note_reuse(from, to);
  }

  void close() {
    if (!group_.is_open()) return;
    if (!blocks_save_memory()) drop_producer();
    if (std::unique_ptr<StepProgram> program = make_program()) {
      tape_.steps.push_back({group_.first, group_.last, std::move(program)});
      note_reuses();
    } else {
      for (int at = group_.first; at <= group_.last; ++at) add_single_step(at);
    }
    group_ = {};
  }

  // Makes the producer a separate step.
  void drop_producer() {
    if (!group_.producer.call) return;
    add_single_step(group_.first);
    group_.drop_producer();
  }

  // Returns whether only the group accesses the buffer.
  bool can_elide(int at) const {
    const Buffer& buffer = tape_.buffers[static_cast<std::size_t>(at)];
    const std::vector<ElementOperand>& uses = group_.used.at(at);
    return buffer.kind == Buffer::Kind::temporary && accesses_.calls(at).front() >= group_.first &&
           accesses_.calls(at).back() <= group_.last && !uses.front().broadcast && uses.front().offset == 0;
  }

  // Returns the group as one program, or null if its calls must run one by one.
  std::unique_ptr<StepProgram> make_program() {
    const std::size_t calls = group_.calls();
    if (!group_.device().is_cpu()) return calls > 1 ? device_chain() : nullptr;
    const bool is_short = !group_.rows.empty() && group_.rows.front().count <= kShort;
    return group_.producer.call || calls > 1 || is_short ? loop_program() : nullptr;
  }

  template <class Program>
  ProgramStreams<Program> streams_of(Program& program) {
    return {tape_, program, [this](int buffer) { return can_elide(buffer); }};
  }

  const Storage& storage(const ElementOperand& x) const {
    return *tape_.buffers[static_cast<std::size_t>(x.buffer)].placeholder;
  }

  std::unique_ptr<StepProgram> device_chain() {
    auto chain = std::make_unique<DeviceChain>(group_.rows.front().count);
    ProgramStreams streams = streams_of(*chain);
    auto reduction = group_.reductions.begin();
    for (std::size_t at = 0; at < group_.rows.size(); ++at) {
      const ElementCall& call = group_.rows[at];
      int in[detail::ElementRow::kMostOperands];
      for (int i = 0; i < call.row.count; ++i) in[i] = streams.stream_of_input(call, i);
      chain->add_call(call.row, in, streams.stream_of(call.out));
      for (; reduction != group_.reductions.end() && reduction->rows == at + 1; ++reduction) {
        const ElementReductionCall& r = reduction->call;
        chain->add_reduction(r.steps, r.shape, streams.stream_of(r.input), storage(r.output),
                             r.output.offset);
      }
    }
    if (!chain->make(group_.device())) return nullptr;
    streams.mark_elided();
    return chain;
  }

  std::unique_ptr<StepProgram> loop_program() {
    auto program = std::make_unique<LoopProgram>(group_.rows.front().count);
    ProgramStreams streams = streams_of(*program);
    if (group_.producer.call)
      streams.elide(group_.producer.out, program->add_producer(std::move(group_.producer.call)));
    for (const ElementCall& call : group_.rows) {
      LoopProgram::Instruction instruction{call.row.function, call.row.formula};
      for (int i = 0; i < call.row.count; ++i) {
        const auto k = static_cast<std::size_t>(i);
        instruction.in[k] = streams.stream_of_input(call, i);
        if (call.in[i].broadcast && call.row.takes_constants)
          instruction.constant |= 1u << i;
        else if (call.in[i].broadcast)
          instruction.in[k] = program->add_filled(instruction.in[k]);
      }
      instruction.out = streams.stream_of(call.out);
      program->add_instruction(instruction, call.row.grain);
    }
    for (const auto& [sum, rows] : group_.reductions)
      program->add_sum(sum.steps, streams.stream_of(sum.input), storage(sum.output), sum.output.offset);
    program->finish();
    streams.mark_elided();
    return program;
  }

  void note_reuse(int from, int to) {
    tape_.reuses.push_back({from, to, static_cast<int>(tape_.steps.size()) - 1});
  }

  // Returns whether in-place reuse of the buffer is possible and worthwhile. If not, ends() and begins()
  // return false for the buffer.
  bool reusable(int at) const {
    const Buffer& buffer = tape_.buffers[static_cast<std::size_t>(at)];
    const ElementOperand& use = group_.used.at(at).front();
    return buffer.kind == Buffer::Kind::temporary && buffer.bytes >= kWorthReuse && !use.broadcast &&
           use.offset == 0 && !group_.producer.reads.contains(at);
  }
  bool ends(int at) const {
    // A block is summed after all rows, so the rows after a reduction must not overwrite its input.
    const auto is_summed = [&](const ElementGroup::Reduction& each) { return each.call.input.buffer == at; };
    return reusable(at) && accesses_.calls(at).back() <= group_.last &&
           std::none_of(group_.reductions.begin(), group_.reductions.end(), is_summed);
  }
  bool begins(int at) const { return reusable(at) && accesses_.calls(at).front() >= group_.first; }

  // Returns whether the producer should run in blocks. Blocks cost a little time. Without blocks, the
  // producer's whole result is in memory together with the group's buffers. Blocks save this memory if the
  // live range of a buffer ends in the group and a result of the rows can reuse the buffer.
  bool blocks_save_memory() const {
    const auto frees_memory = [&](const auto& use) {
      return use.first != group_.producer.out.buffer && ends(use.first) && !begins(use.first);
    };
    const auto reuses_memory = [&](int at) { return at != group_.producer.out.buffer && begins(at); };
    return group_.producer.call && !group_.rows.empty() && can_elide(group_.producer.out.buffer) &&
           std::any_of(group_.used.begin(), group_.used.end(), frees_memory) &&
           std::any_of(group_.written.begin(), group_.written.end(), reuses_memory);
  }

  static std::int64_t size_of(const std::vector<ElementOperand>& uses) {
    return element_size(uses.front().dtype);
  }

  // Records that a buffer whose live range begins in the group may share the address of a buffer whose live
  // range ends there.
  void note_reuses() {
    for (const auto& [from, uses] : group_.used) {
      if (!ends(from)) continue;
      bool one = true;
      for (const ElementOperand& each : uses) one = one && each.same_elements(uses.front());
      if (!one) continue;
      count_comparisons(group_.written.size());
      for (const int to : group_.written)
        if (to != from && begins(to) && size_of(group_.used.at(to)) == size_of(uses) &&
            accesses_.calls(from).back() <= accesses_.calls(to).front())
          note_reuse(from, to);
    }
  }

  // Converts live ranges from calls to steps, which the memory plan needs.
  void set_live_ranges() {
    std::vector<int> step_of(tape_.calls.size());
    for (std::size_t step = 0; step < tape_.steps.size(); ++step)
      for (int call = tape_.steps[step].first; call <= tape_.steps[step].last; ++call)
        step_of[static_cast<std::size_t>(call)] = static_cast<int>(step);
    for (std::size_t i = 0; i < tape_.buffers.size(); ++i) {
      const std::vector<int>& calls = accesses_.calls(static_cast<int>(i));
      tape_.buffers[i].first = calls.empty() ? -1 : step_of[static_cast<std::size_t>(calls.front())];
      tape_.buffers[i].last = calls.empty() ? -1 : step_of[static_cast<std::size_t>(calls.back())];
    }
  }

  Tape& tape_;
  const AccessIndex& accesses_;
  const bool on_devices_;
  ElementGroup group_;  // the group under construction
};

}  // namespace

void fuse(Tape& tape, bool on_devices) {
  AccessIndex accesses(tape);
  mask_pooled_gradients(tape, accesses);
  fuse_matmul_add(tape, accesses, on_devices);
  overwrite_zeros(tape, accesses);
  sink_producers(tape, accesses);
  hoist_scalars(tape, accesses);
  if (on_devices) hoist_reductions(tape, accesses);
  Fuser(tape, accesses, on_devices).run();
  recompute(tape, accesses);
}

}  // namespace ebb::detail::compile
