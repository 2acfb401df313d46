// CompiledCore: chooses for each call of a compiled function whether it is eager, recorded or replayed.
#include <ebb/autograd/anomaly.h>
#include <ebb/compile.h>
#include <ebb/core/parallel.h>
#include <ebb/core/warning.h>

#include "autograd/thread_state.h"
#include "compile/emit.h"
#include "compile/record.h"
#include "compile/tape.h"
#include "core/capture.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>

namespace ebb::detail {
namespace {

using compile::Recording;
using compile::Specialization;
using compile::Tape;

constexpr int kMostRefusalsOfAllKinds = 6;  // consecutive refused recordings

// Returns the reason why this call can neither be recorded nor replayed, or null.
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

// Returns the modes and the number of threads, which a function must not change.
std::string modes_and_threads() { return compile::key_of_modes() + std::to_string(get_num_threads()); }

}  // namespace

struct CompiledCore::Impl {
  explicit Impl(const CompileOptions& with) : options(with) {}

  std::int64_t most_kinds() const { return std::max<std::int64_t>(options.max_kinds, 1); }

  /// Returns the specialization of a call. Returns null if no specialization has the call's key and new kinds
  /// of calls are not recorded any more.
  Specialization* specialization_of(const std::vector<Variable>& tensors, const std::string& numbers) {
    retired.clear();
    compile::key_of_call(tensors, numbers, key);
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.key == key; });
    if (found != kinds.end()) {
      if (found != kinds.begin()) kinds.splice(kinds.begin(), kinds, found);
      return &kinds.front();
    }
    if (!closed.empty()) return nullptr;
    kinds.emplace_front(key);
    while (static_cast<std::int64_t>(kinds.size()) > most_kinds()) {
      dropped_unused = kinds.back().ever_replayed ? 0 : dropped_unused + 1;
      kinds.pop_back();
    }
    return &kinds.front();
  }
  /// Stops the recording of new kinds if the last ones were all refused, or dropped before a replay. Each
  /// recording costs more than an eager call, so further recordings would only cost time.
  void close_if_never_replayed(const Specialization& last) {
    refused = last.was_refused() ? refused + 1 : 0;
    if (!closed.empty()) return;
    if (refused >= kMostRefusalsOfAllKinds)
      closed = last.reason;
    else if (dropped_unused >= 2 * most_kinds())
      closed =
          "its arguments come in more kinds than CompileOptions::max_kinds keeps, and each kind is dropped "
          "before it comes again; raise max_kinds, or pad the arguments to fewer shapes";
    if (!closed.empty() && !last.eager)
      warn(Warning("compile: calls of new kinds stay eager: " + closed + "."));
  }

  CompileOptions options;
  /// Locked during each call. It is recursive, because the compiled function may call report() and reset().
  std::recursive_mutex mutex;
  bool under_way = false;
  std::list<Specialization> kinds;    // the most recently used is first
  std::list<Specialization> retired;  // dropped by a reset() within a call that still uses one of them
  std::string key;                    // the key of the last call
  std::int64_t dropped_unused = 0;    // the number of consecutive kinds that were dropped before a replay
  int refused = 0;                    // the number of consecutive refused recordings
  std::string closed;                 // the reason why new kinds are not recorded any more
  bool last_is_closed = false;        // true if the kind of the last call is not recorded for this reason
  std::uint64_t resets = 0;
  CompileReport counts;
  std::atomic<const char*> obstacle = nullptr;  // the result of obstacle() for the last call
};

CompiledCore::CompiledCore(const CompileOptions& options) : impl_(std::make_unique<Impl>(options)) {}
CompiledCore::~CompiledCore() = default;
CompiledCore::CompiledCore(CompiledCore&&) noexcept = default;
CompiledCore& CompiledCore::operator=(CompiledCore&&) noexcept = default;

namespace {

/// Sets a flag for a scope.
class UnderWay {
 public:
  explicit UnderWay(bool& flag) : flag_(flag) { flag_ = true; }
  ~UnderWay() { flag_ = false; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  bool& flag_;
};

}  // namespace

bool CompiledCore::call(const std::vector<Variable>& tensors, const std::string& numbers, Body body,
                        void* context, std::vector<Variable>& results) {
  Impl& impl = *impl_;
  std::unique_lock lock(impl.mutex, std::defer_lock);
  const char* const why = obstacle(tensors);
  impl.obstacle = why;
  if (why || !lock.try_lock() || impl.under_way) {
    if (lock.owns_lock()) lock.unlock();
    body(context, results);
    return false;
  }
  ++impl.counts.calls;
  Specialization* const kind = impl.specialization_of(tensors, numbers);
  if (kind && kind->replayed && !kind->fits(tensors)) kind->invalidate();
  impl.last_is_closed = !kind;
  if (!kind || kind->eager) {
    lock.unlock();
    body(context, results);
    return false;
  }
  const UnderWay under_way(impl.under_way);
  if (kind->replayed) {
    try {
      results = compile::replay(*kind->replayed, tensors);
    } catch (...) {
      kind->replayed.reset();
      kind->reason = "an exception ended a replay; it is being recorded again";
      throw;
    }
    ++kind->replays;
    kind->ever_replayed = true;
    ++impl.counts.replays;
    return true;
  }
  ++impl.counts.recordings;
  const std::uint64_t resets = impl.resets;
  const std::string modes = modes_and_threads();
  Recording recording(tensors);
  {
    const RecorderScope scope(&recording);
    body(context, results);
  }
  if (impl.resets != resets) return false;
  recording.refuse_changes();
  if (modes != modes_and_threads())
    recording.refuse(
        "it changes a mode of the thread, the mode of a module, or hooks, and does not restore them");
  const auto start = std::chrono::steady_clock::now();
  try {
    kind->recorded(recording, tensors, results, impl.options.fuse && compile::may_fuse_on_devices());
  } catch (const std::bad_alloc&) {
    kind->refused("there was not enough memory to prepare its tape");
  }
  impl.counts.prepare_seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  impl.close_if_never_replayed(*kind);
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
  if (impl_->last_is_closed) {
    report.reason = impl_->closed;
    return report;
  }
  if (impl_->kinds.empty()) {
    report.reason = "it has not been called yet";
    return report;
  }
  Specialization& kind = impl_->kinds.front();
  report.replayed = kind.replayed != nullptr;
  report.reason = kind.reason;
  if (!kind.replayed) return report;
  report.captured = kind.replayed->on_device && kind.replayed->on_device->graph;
  report.operations = static_cast<std::int64_t>(kind.replayed->calls.size());
  for (const compile::TapeStep& step : kind.replayed->steps)
    if (step.last > step.first) report.fused += step.last - step.first + 1;
  for (const Tape::Arena& arena : kind.replayed->arenas)
    report.arena_bytes += static_cast<std::int64_t>(arena.bytes);
  for (const compile::Buffer& buffer : kind.replayed->buffers)
    if (buffer.kind == compile::Buffer::Kind::result || buffer.kind == compile::Buffer::Kind::constant)
      report.result_bytes += static_cast<std::int64_t>(buffer.bytes);
  return report;
}

void CompiledCore::emit(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  EBB_CHECK(!impl_->kinds.empty(),
            "Compiled::emit: the function has not been called yet. Call it until "
            "report().replayed.");
  Specialization& kind = impl_->kinds.front();
  EBB_CHECK(kind.replayed, "Compiled::emit: calls of the last kind are not replayed: ", kind.reason,
            ". Call it until report().replayed.");
  EBB_CHECK(compile::reads_same(*kind.replayed),
            "Compiled::emit: a tensor that the function reads has been "
            "replaced since it was called. Call it until report().replayed.");
  compile::emit(*kind.replayed, kind.arguments, path);
}

void CompiledCore::reset() {
  const std::lock_guard lock(impl_->mutex);
  ++impl_->resets;
  impl_->retired.splice(impl_->retired.end(), impl_->kinds);
  if (!impl_->under_way) impl_->retired.clear();
  impl_->dropped_unused = 0;
  impl_->refused = 0;
  impl_->closed.clear();
  impl_->last_is_closed = false;
  impl_->counts = {};
  impl_->obstacle = nullptr;
}

}  // namespace ebb::detail
