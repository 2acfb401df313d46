// Which calls become programs of rows, and which chains of a device.
#include "compile/fuse.h"

#include "compile/device_chain.h"
#include "compile/element_call.h"
#include "compile/products.h"
#include "compile/program_streams.h"
#include "compile/row_program.h"
#include "compile/row_source.h"
#include "compile/touches.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace ebb::compiling {
namespace {

// Fewer elements than that gain by a program even if it is of one row.
constexpr std::int64_t kShort = 4096;
// Places of fewer bytes are not worth the search for one that could lie there next.
constexpr std::size_t kWorthReuse = 4096;

class Fuser {
 public:
  Fuser(Tape& tape, bool on_devices) : tape_(tape), touches_(tape), on_devices_(on_devices) {}

  void run() {
    const auto calls = static_cast<int>(tape_.calls.size());
    for (int at = 0; at < calls; ++at) {
      std::optional<ElementCall> row = element_call_at(at);
      if (row && first_ >= 0 && joins(*row)) {
        add(at, std::move(*row));
        continue;
      }
      if (first_ >= 0 && add_reduction(at)) continue;
      close();
      if (row) {
        first_ = at;
        add(at, std::move(*row));
      } else if (begins_with_source(at)) {
        first_ = last_ = at;
      } else {
        single(at);
      }
    }
    close();
    count_spans();
  }

 private:
  // The call that a group begins with, where the next one takes up its result.
  struct Source {
    std::unique_ptr<RowSource> call;
    ElementOperand out;
    std::int64_t count = 0;
    std::unordered_set<int> reads;  // places
  };

  struct Reduction {
    ElementReductionCall call;
    std::size_t rows;  // of the group, that come before it
  };

  std::optional<ElementCall> element_call_at(int at) const {
    std::optional<ElementCall> found = element_call(tape_.calls[static_cast<std::size_t>(at)], touches_);
    if (found && !found->device.is_cpu() && !on_devices_) found.reset();
    return found;
  }

  bool begins_with_source(int at) {
    std::unique_ptr<RowSource> call = row_source(tape_.calls[static_cast<std::size_t>(at)]);
    if (!call || at + 1 == static_cast<int>(tape_.calls.size())) return false;
    source_ = {nullptr, operand_of(call->out(), touches_), call->out().numel(), {}};
    for (const NdArray* x : call->reads())
      if (x->defined()) source_.reads.insert(touches_.place(*x));
    source_.call = std::move(call);
    const std::optional<ElementCall> next = element_call_at(at + 1);
    bool taken = false;
    if (next && next->count == source_.count)
      for (const ElementOperand* each : next->in_memory())
        taken = taken ||
                (each != &next->out && each->place == source_.out.place && each->same_elements(source_.out));
    if (!taken || source_.reads.contains(next->out.place)) {
      source_ = {};
      return false;
    }
    used_[source_.out.place].push_back(source_.out);
    written_.insert(source_.out.place);
    return true;
  }

  void add(int at, ElementCall row) {
    last_ = at;
    use(row);
    rows_.push_back(std::move(row));
  }

  // A reduction of elements that the group makes or reads.
  bool add_reduction(int at) {
    if (rows_.empty()) return false;
    const std::optional<ElementReductionCall> found =
        element_reduction_call(tape_.calls[static_cast<std::size_t>(at)], touches_);
    if (!found || found->count != rows_.front().count || found->device != group_device()) return false;
    const auto uses = used_.find(found->of.place);
    if (uses == used_.end() || !uses->second.front().same_elements(found->of) ||
        used_.contains(found->to.place))
      return false;
    if (!found->device.is_cpu() && !fits_device(*found)) return false;
    if (worth_blocks()) return false;  // whose blocks are others
    drop_source();
    last_ = at;
    reductions_.push_back({*found, rows_.size()});
    return true;
  }
  bool is_reduced_to(int place) const {
    return std::any_of(reductions_.begin(), reductions_.end(),
                       [&](const auto& each) { return each.call.to.place == place; });
  }
  bool fits_device(const ElementReductionCall& call) const {
    if (reductions_.size() == DeviceChain::kMostReductions) return false;
    if (!reductions_.empty() && reductions_.front().call.rows != call.rows) return false;
    return call.rows == 1 || call.count / call.rows >= DeviceChain::kLeastRow;
  }

  // A step of one call as it is.
  void single(int at) {
    tape_.steps.push_back({at, at, nullptr});
    for (const auto& [from, to] : in_place(tape_.calls[static_cast<std::size_t>(at)], at, touches_))
      may_follow(from, to);
  }

  // Of different elements.
  std::size_t arrays_used() const {
    std::size_t count = 0;
    for (const auto& entry : used_) {
      const std::vector<ElementOperand>& uses = entry.second;
      for (auto each = uses.begin(); each != uses.end(); ++each)
        count += std::none_of(uses.begin(), each,
                              [&](const ElementOperand& other) { return other.same_elements(*each); });
    }
    return count;
  }

  Device group_device() const { return rows_.empty() ? Device(kCPU) : rows_.front().device; }
  // Whether the kernel of a device would become too large with one more call.
  bool is_full() const {
    constexpr std::size_t most = DeviceChain::kMostArrays - 1 - detail::ElementRow::kMostOperands;
    return !group_device().is_cpu() && (rows_.size() >= DeviceChain::kMostCalls || arrays_used() > most);
  }

  // Whether the call can run with those of the group: what one of them writes the others see only at the same
  // elements.
  bool joins(const ElementCall& row) const {
    if (row.device != group_device() || is_full()) return false;
    if ((source_.call ? source_.count : rows_.front().count) != row.count) return false;
    if (source_.reads.contains(row.out.place)) return false;
    if (!reductions_.empty() && group_device().is_cpu()) return false;
    for (const ElementOperand* each : row.in_memory()) {
      if (is_reduced_to(each->place)) return false;  // it is there once all elements are
      const auto found = used_.find(each->place);
      if (found == used_.end()) continue;
      const bool write = each == &row.out || written_.contains(each->place);
      for (const ElementOperand& other : found->second)
        if (write && !other.same_elements(*each)) return false;
    }
    return true;
  }

  void close() {
    if (first_ < 0) return;
    if (!worth_blocks()) drop_source();
    if (std::unique_ptr<StepProgram> program = put_together()) {
      tape_.steps.push_back({first_, last_, std::move(program)});
      note_successions();
      note_apart();
    } else {
      for (int at = first_; at <= last_; ++at) single(at);
    }
    first_ = -1;
    source_ = {};
    reductions_.clear();
    rows_.clear();
    used_.clear();
    written_.clear();
  }

  // The source is a step of its own.
  void drop_source() {
    if (!source_.call) return;
    single(first_++);
    used_.clear();
    written_.clear();
    source_ = {};
    for (const ElementCall& row : rows_) use(row);
  }
  void use(const ElementCall& row) {
    for (const ElementOperand* each : row.in_memory()) used_[each->place].push_back(*each);
    written_.insert(row.out.place);
  }

  // Nothing else needs the place's elements.
  bool passing(int at) const {
    const Place& place = tape_.places[static_cast<std::size_t>(at)];
    const std::vector<ElementOperand>& uses = used_.at(at);
    return place.kind == Place::Kind::inner && touches_.calls(at).front() >= first_ &&
           touches_.calls(at).back() <= last_ && !uses.front().still && uses.front().offset == 0;
  }

  // The group as one program; null where its calls are to be made one by one.
  std::unique_ptr<StepProgram> put_together() {
    const std::size_t calls = rows_.size() + reductions_.size();
    if (!group_device().is_cpu()) return calls > 1 ? device_chain() : nullptr;
    const bool is_short = !rows_.empty() && rows_.front().count <= kShort;
    return source_.call || calls > 1 || is_short ? row_program() : nullptr;
  }

  template <class Program>
  ProgramStreams<Program> streams_of(Program& program) {
    return {tape_, program, [this](int place) { return passing(place); }};
  }

  const Storage& storage(const ElementOperand& x) const {
    return *tape_.places[static_cast<std::size_t>(x.place)].stand_in;
  }

  std::unique_ptr<StepProgram> device_chain() {
    auto chain = std::make_unique<DeviceChain>(rows_.front().count);
    ProgramStreams streams = streams_of(*chain);
    auto reduction = reductions_.begin();
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      const ElementCall& call = rows_[at];
      int in[detail::ElementRow::kMostOperands];
      for (int i = 0; i < call.row.count; ++i) in[i] = streams.of_input(call, i);
      chain->add_call(call.row, in, streams.of(call.out));
      for (; reduction != reductions_.end() && reduction->rows == at + 1; ++reduction) {
        const ElementReductionCall& r = reduction->call;
        chain->add_reduction(r.steps, r.rows, streams.of(r.of), storage(r.to), r.to.offset);
      }
    }
    if (!chain->make(group_device())) return nullptr;
    streams.settle();
    return chain;
  }

  std::unique_ptr<StepProgram> row_program() {
    auto program = std::make_unique<RowProgram>(rows_.front().count);
    ProgramStreams streams = streams_of(*program);
    if (source_.call) streams.pass(source_.out, program->add_source(std::move(source_.call)));
    for (const ElementCall& call : rows_) {
      RowProgram::Line line{call.row.function, call.row.formula};
      for (int i = 0; i < call.row.count; ++i) {
        const auto k = static_cast<std::size_t>(i);
        line.in[k] = streams.of_input(call, i);
        if (call.in[i].still && call.row.takes_constants)
          line.constant |= 1u << i;
        else if (call.in[i].still)
          line.in[k] = program->add_filled(line.in[k]);
      }
      line.out = streams.of(call.out);
      program->add_line(line, call.row.grain);
    }
    for (const auto& [sum, rows] : reductions_)
      program->add_sum(sum.steps, streams.of(sum.of), storage(sum.to), sum.to.offset);
    program->finish();
    streams.settle();
    return program;
  }

  void may_follow(int from, int to) {
    tape_.successions.push_back({from, to, static_cast<int>(tape_.steps.size()) - 1});
  }

  // Whether a place that the group uses ends in it, and whether one begins in it, worth to be reused.
  bool reusable(int at) const {
    const Place& place = tape_.places[static_cast<std::size_t>(at)];
    const ElementOperand& use = used_.at(at).front();
    return place.kind == Place::Kind::inner && place.bytes >= kWorthReuse && !use.still && use.offset == 0 &&
           !source_.reads.contains(at);
  }
  bool ends(int at) const { return reusable(at) && touches_.calls(at).back() <= last_; }
  bool begins(int at) const { return reusable(at) && touches_.calls(at).front() >= first_; }

  // Blocks of a source cost a little. They save memory where its whole result would lie beside a place that
  // ends here, and where what the rows make of it can lie in that one.
  bool worth_blocks() const {
    const auto spares = [&](const auto& use) {
      return use.first != source_.out.place && ends(use.first) && !begins(use.first);
    };
    const auto takes = [&](int at) { return at != source_.out.place && begins(at); };
    return source_.call && !rows_.empty() && passing(source_.out.place) &&
           std::any_of(used_.begin(), used_.end(), spares) &&
           std::any_of(written_.begin(), written_.end(), takes);
  }

  static std::int64_t size_of(const std::vector<ElementOperand>& uses) {
    return element_size(uses.front().dtype);
  }

  // A place that is read for the last time may lie where another is written for the first.
  void note_successions() {
    for (const auto& [from, uses] : used_) {
      if (!ends(from)) continue;
      bool one = true;
      for (const ElementOperand& each : uses) one = one && each.same_elements(uses.front());
      if (!one) continue;
      for (const int to : written_)
        if (to != from && begins(to) && size_of(used_.at(to)) == size_of(uses) &&
            touches_.calls(from).back() <= touches_.calls(to).front())
          may_follow(from, to);
    }
  }

  // Memory of the program's callers that must not overlap, or a block would see what a later one writes.
  void note_apart() {
    const auto is_callers = [&](int at) {
      const Place::Kind kind = tape_.places[static_cast<std::size_t>(at)].kind;
      return kind == Place::Kind::input || kind == Place::Kind::outside;
    };
    std::unordered_set<int> others = source_.reads;
    for (const auto& [place, uses] : used_) others.insert(place);
    for (const int a : written_)
      for (const int b : others)
        if (a != b && is_callers(a) && is_callers(b)) tape_.apart.emplace_back(a, b);
  }

  // What the memory plan goes by.
  void count_spans() {
    std::vector<int> step_of(tape_.calls.size());
    for (std::size_t step = 0; step < tape_.steps.size(); ++step)
      for (int call = tape_.steps[step].first; call <= tape_.steps[step].last; ++call)
        step_of[static_cast<std::size_t>(call)] = static_cast<int>(step);
    for (std::size_t i = 0; i < tape_.places.size(); ++i) {
      const std::vector<int>& calls = touches_.calls(static_cast<int>(i));
      tape_.places[i].first = calls.empty() ? -1 : step_of[static_cast<std::size_t>(calls.front())];
      tape_.places[i].last = calls.empty() ? -1 : step_of[static_cast<std::size_t>(calls.back())];
    }
  }

  Tape& tape_;
  const Touches touches_;
  const bool on_devices_;
  // The group that is being put together.
  int first_ = -1, last_ = -1;                                 // its calls
  Source source_;                                              // the first of them
  std::vector<ElementCall> rows_;                              // the others
  std::vector<Reduction> reductions_;                          // and reductions; on the CPU the last
  std::unordered_map<int, std::vector<ElementOperand>> used_;  // by place
  std::unordered_set<int> written_;
};

}  // namespace

void fuse(Tape& tape, bool on_devices) {
  accumulate_products(tape, on_devices);
  delay_sources(tape);
  Fuser(tape, on_devices).run();
}

}  // namespace ebb::compiling
