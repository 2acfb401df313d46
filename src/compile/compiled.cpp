// Which calls of a compiled function are recorded, and which replayed.
#include <ebb/autograd/anomaly.h>
#include <ebb/autograd/autocast_setting.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/compile.h>
#include <ebb/core/deterministic.h>
#include <ebb/core/warning.h>
#include <ebb/nn/training_flag.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>

#include "autograd/thread_state.h"
#include "compile/device_tape.h"
#include "compile/emit.h"
#include "compile/fuse.h"
#include "compile/recording.h"
#include "device/capture.h"

namespace ebb::detail {
namespace {

using compiling::Recording;
using compiling::Tape;

constexpr int kMostRecordings = 6;  // in a row, until two of them are the same
constexpr int kMostRefusals = 3;    // in a row: the first calls may make what later ones find
constexpr int kMostWasted = 3;      // tapes in a row that were given up before a replay

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// What tells calls apart for which different tapes are right.
std::string key_of(const std::vector<Variable>& tensors, const std::string& numbers) {
  std::string key = numbers;
  append(key, GradMode::is_enabled());
  append(key, InferenceMode::is_enabled());
  append(key, are_deterministic_algorithms_enabled());
  append(key, nn::detail::training_fingerprint());
  const autograd::AutocastSetting autocast = autograd::AutocastSetting::now();
  append(key, autocast.devices);
  for (const DType each : autocast.dtypes) append(key, each);
  append(key, get_default_dtype());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Variable& x = tensors[i];
    append(key, x.defined());
    if (!x.defined()) continue;
    append(key, x.scalar_type());
    append(key, x.device().type());
    append(key, x.device().index());
    append(key, x.requires_grad());
    append(key, x.is_inference());
    append(key, x.dim());
    for (const std::int64_t size : x.sizes()) append(key, size);
    for (const std::int64_t stride : x.strides()) append(key, stride);
    std::size_t first = 0;
    while (!(tensors[first].defined() && tensors[first].is_alias_of(x))) ++first;
    append(key, first);
    append(key, x.storage_offset() - tensors[first].storage_offset());
  }
  return key;
}

// Why a call cannot even be tried.
const char* obstacle(const std::vector<Variable>& tensors) {
  if (current_recorder()) return "it runs within another compiled function";
  if (current_capture()) return "it runs within a capture";
  if (autograd::thread_state.anomaly_mode) return "anomaly detection is on";
  if (autograd::thread_state.saved_hooks) return "hooks on saved tensors are set";
  for (const Variable& x : tensors) {
    if (x.defined() && !x.is_leaf()) return "an argument is part of a graph; detach() it";
  }
  return nullptr;
}

std::string first_difference(const Tape& a, const Tape& b) {
  const std::size_t calls = std::min(a.marks.size(), b.marks.size()) - 1;  // the last ends the last call
  for (std::size_t i = 0; i < calls; ++i) {
    const auto print_of = [i](const Tape& t) {
      return std::string_view(t.print).substr(t.marks[i].at, t.marks[i + 1].at - t.marks[i].at);
    };
    if (print_of(a) != print_of(b))
      return text("two calls in a row did different things, first at kernel call ", std::uint64_t{i}, ": ",
                  a.marks[i].name, " and ", b.marks[i].name);
  }
  if (a.marks.size() != b.marks.size())
    return text("two calls in a row did different things: ", std::uint64_t{a.marks.size() - 1}, " and ",
                std::uint64_t{b.marks.size() - 1}, " kernel calls");
  return "two calls in a row left different results or gradients";
}

// One kind of call.
struct Kind {
  std::string key;
  std::unique_ptr<Tape> settled, last;
  // The place of an argument. A captured tensor may lie there too, which no tape tells from a view of the
  // argument.
  struct Input {
    std::shared_ptr<ReadStorage> memory;
    std::int64_t offset = 0;
  };
  std::vector<Input> inputs;                   // of the last recording
  std::vector<bool> same_memory, same_offset;  // of a settled tape: whether they were the same twice
  std::vector<emitted::Argument> arguments;
  std::string reason = "it has not been called twice yet";
  int recordings = 0, refusals = 0, wasted = 0;
  std::int64_t replays = 0;  // of the settled tape
  bool eager = false;        // for good

  bool fits(const std::vector<Variable>& tensors) const {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!same_memory[i] || !tensors[i].defined()) continue;
      if (tensors[i].array().storage() != inputs[i].memory->storage) return false;
      if (same_offset[i] && tensors[i].storage_offset() != inputs[i].offset) return false;
    }
    return compiling::holds(*settled, tensors);
  }
  void stay_eager(std::string why) {
    eager = true;
    reason = std::move(why);
    settled.reset();
    last.reset();
    inputs.clear();
    warn(Warning("compile: the function stays eager: " + reason + "."));
  }
  void unsettle() {
    wasted = replays == 0 ? wasted + 1 : 0;
    last = std::move(settled);
    recordings = 0;
    reason = "what it reads has been replaced; it is being recorded again";
    if (wasted >= kMostWasted) stay_eager("what it reads is replaced from call to call");
  }
  void recorded(std::unique_ptr<Tape> tape, const std::string& refusal, const std::vector<Variable>& tensors,
                bool fuse_on_devices) {
    if (!tape) {
      last.reset();
      reason = refusal;
      if (++refusals >= kMostRefusals) stay_eager(refusal);
      return;
    }
    refusals = 0;
    arguments = compiling::arguments_of(tensors);
    std::vector<Input> now;
    for (const Variable& x : tensors)
      now.push_back(x.defined() ? Input{read_by_tape(x.array().storage(), false), x.storage_offset()}
                                : Input());
    const bool same = last && last->print == tape->print;
    if (same) {
      same_memory.clear();
      same_offset.clear();
      for (std::size_t i = 0; i < now.size(); ++i) {
        same_memory.push_back(now[i].memory == inputs[i].memory);
        same_offset.push_back(now[i].offset == inputs[i].offset);
      }
      settled = std::move(tape);
      compiling::fuse(*settled, fuse_on_devices);
      compiling::plan_memory(*settled);
      compiling::prepare_for_device(*settled, tensors);
      last.reset();
      reason.clear();
      recordings = 0;
      replays = 0;
    } else {
      reason = last ? first_difference(*last, *tape) : "it has not been called twice yet";
      last = std::move(tape);
      if (++recordings >= kMostRecordings) return stay_eager(reason);
    }
    inputs = std::move(now);
    // What is known not to be always the same need not be held.
    if (same)
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!same_memory[i]) inputs[i] = {};
  }
};

}  // namespace

struct CompiledCore::Impl {
  explicit Impl(const CompileOptions& with) : options(with) {}

  Kind& kind_of(std::string key) {
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.key == key; });
    if (found != kinds.end()) {
      kinds.splice(kinds.begin(), kinds, found);
    } else {
      kinds.emplace_front().key = std::move(key);
      while (static_cast<std::int64_t>(kinds.size()) > std::max<std::int64_t>(options.max_kinds, 1))
        kinds.pop_back();
    }
    return kinds.front();
  }

  CompileOptions options;
  std::mutex mutex;
  std::list<Kind> kinds;  // the one used last in front
  CompileReport counts;
  std::atomic<const char*> obstacle = nullptr;  // of the last call; calls that overlap set it, too
};

CompiledCore::CompiledCore(const CompileOptions& options) : impl_(std::make_unique<Impl>(options)) {}
CompiledCore::~CompiledCore() = default;
CompiledCore::CompiledCore(CompiledCore&&) noexcept = default;
CompiledCore& CompiledCore::operator=(CompiledCore&&) noexcept = default;

bool CompiledCore::call(const std::vector<Variable>& tensors, const std::string& numbers, Body body,
                        void* context, std::vector<Variable>& results) {
  std::unique_lock lock(impl_->mutex, std::defer_lock);
  const char* const why = obstacle(tensors);
  impl_->obstacle = why;
  if (why || !lock.try_lock()) {
    body(context, results);
    return false;
  }
  ++impl_->counts.calls;
  Kind& kind = impl_->kind_of(key_of(tensors, numbers));
  if (kind.settled && !kind.fits(tensors)) kind.unsettle();
  if (kind.settled) {
    try {
      results = compiling::replay(*kind.settled, tensors);
    } catch (...) {
      kind.settled.reset();
      kind.reason = "an exception ended a replay; it is being recorded again";
      throw;
    }
    ++kind.replays;
    ++impl_->counts.replays;
    return true;
  }
  if (kind.eager) {
    lock.unlock();
    body(context, results);
    return false;
  }
  ++impl_->counts.recordings;
  Recording recording(tensors, kind.last.get());
  {
    const RecorderScope scope(&recording);
    body(context, results);
  }
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Tape> tape = recording.finish(results);
  kind.recorded(std::move(tape), recording.reason(), tensors,
                impl_->options.fuse && compiling::may_fuse_on_devices());
  impl_->counts.prepare_seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return false;
}

CompileReport CompiledCore::report() const {
  const std::lock_guard lock(impl_->mutex);
  CompileReport report = impl_->counts;
  report.kinds = static_cast<std::int64_t>(impl_->kinds.size());
  if (const char* const why = impl_->obstacle) {
    report.reason = why;
    return report;
  }
  if (impl_->kinds.empty()) {
    report.reason = "it has not been called yet";
    return report;
  }
  const Kind& kind = impl_->kinds.front();
  report.replayed = kind.settled != nullptr;
  report.reason = kind.reason;
  if (!kind.settled) return report;
  report.captured = kind.settled->on_device && kind.settled->on_device->graph;
  report.operations = static_cast<std::int64_t>(kind.settled->calls.size());
  for (const compiling::TapeStep& step : kind.settled->steps)
    if (step.last > step.first) report.fused += step.last - step.first + 1;
  for (const Tape::Arena& arena : kind.settled->arenas)
    report.arena_bytes += static_cast<std::int64_t>(arena.bytes);
  for (const compiling::Place& place : kind.settled->places)
    if (place.kind == compiling::Place::Kind::result || place.kind == compiling::Place::Kind::constant)
      report.result_bytes += static_cast<std::int64_t>(place.bytes);
  return report;
}

void CompiledCore::emit(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  EBB_CHECK(!impl_->kinds.empty(),
            "Compiled::emit: the function has not been called yet. Call it until "
            "report().replayed.");
  const Kind& kind = impl_->kinds.front();
  EBB_CHECK(kind.settled, "Compiled::emit: calls of the last kind are not replayed: ", kind.reason,
            ". Call it until report().replayed.");
  EBB_CHECK(kind.settled->epoch == tape_epoch(),
            "Compiled::emit: a tensor that the function reads has been "
            "replaced since it was called. Call it until report().replayed.");
  compiling::emit(*kind.settled, kind.arguments, path);
}

void CompiledCore::reset() {
  const std::lock_guard lock(impl_->mutex);
  impl_->kinds.clear();
  impl_->counts = {};
  impl_->obstacle = nullptr;
}

}  // namespace ebb::detail
