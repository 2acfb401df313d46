// Diagnostics of the graph. Anomaly mode records the origin of each node, and reports the first node whose
// gradient contains NaN. The registry of modules names the module whose forward recorded a node. NVTX ranges
// show ops and nodes on a profiler's timeline; a sequence number links the two.
#include "autograd/diagnostics.h"

#include <ebb/autograd/anomaly.h>
#include <ebb/core/warning.h>

#include "autograd/meta.h"
#include "autograd/thread_state.h"
#include "core/fork.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unordered_map>

namespace ebb::autograd {

bool AnomalyMode::is_enabled() { return thread_state.anomaly_mode; }
bool AnomalyMode::should_check_nan() { return thread_state.check_nan; }
void AnomalyMode::set_enabled(bool enabled, bool check_nan) {
  static constinit std::atomic_flag warned;
  if (enabled && !thread_state.anomaly_mode && warns_first(warned))
    warn(
        "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled "
        "for "
        "debugging.");
  thread_state.anomaly_mode = enabled;
  thread_state.check_nan = check_nan;
}

namespace {

const void* library_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

// Returns a call of a stack trace as a line of text.
std::string call_text(const void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return {};
  const auto offset = static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase);
  char place[24];
  std::snprintf(place, sizeof place, "+%#tx", offset);
  std::string text = detail::text("\n  ", info.dli_fname, place);
  if (!info.dli_sname) return text;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), &std::free);
  return text + " in " + (name ? name.get() : info.dli_sname);
}

}  // namespace

void note_origin(Node& node) {
  node.extras().calls.resize(48);
  node.extras().calls.resize(static_cast<std::size_t>(backtrace(node.extras().calls.data(), 48)));
  if (const Node* outer = thread_state.evaluating)
    node.extras().recorded_in =
        outer->name() + (outer->extras_or_null() ? origin_text(*outer) : std::string());
}

std::string origin_text(const Node& node) {
  const NodeExtras* extras = node.extras_or_null();
  std::string text;
  if (extras && !extras->recorded_in.empty()) text = " Recorded in the backward of " + extras->recorded_in;
  const std::string place = module_text(node.place());
  return place.empty() ? text : text + "\n  in the backward of " + node.name() + ", recorded in " + place;
}

void warn_of_failure(const Node& node) {
  if (!thread_state.anomaly_mode) return;
  std::string calls, all;
  const void* const own = library_of(reinterpret_cast<const void*>(&AnomalyMode::is_enabled));
  if (const NodeExtras* extras = node.extras_or_null())
    for (const void* const address : extras->calls) {
      const std::string text = call_text(address);
      all += text;
      if (library_of(address) != own) calls += text;
    }
  if (calls.empty()) calls = std::move(all);  // with a static ebb, all calls are in one file
  if (calls.empty())
    warn("Error detected in ", node.name(),
         ". No forward pass information available. Enable anomaly mode during the forward pass, too.");
  else
    warn("Error detected in ", node.name(),
         ". Stack trace of the forward call that caused the error, the innermost call first:", calls,
         "\n`addr2line -e <file> <offset>` finds the lines of a program that is compiled with -g.");
}

void check_nan(const Node& node, const GradList& grads) {
  NoGradGuard no_grad;
  for (std::size_t i = 0; i < grads.size(); ++i)
    if (grads[i].defined() && is_floating(grads[i].dtype()) && grads[i].isnan().any().item<bool>()) {
      warn_of_failure(node);
      detail::fail(
          "Function '", node.name(), "' returned nan values in its ", std::uint64_t{i},
          "th output, the gradient of input ", std::uint64_t{i + 1},
          ". Look at the forward op of that name: its input is outside the domain of the derivative.",
          origin_text(node));
    }
}

const Node* running_node() noexcept { return thread_state.evaluating; }

constinit thread_local std::uint32_t current_place = 0;

namespace {

struct Place {
  const void* module;
  std::string (*describe)(const void* module);
};
struct Places {
  detail::HeldAtFork mutex;
  std::unordered_map<std::uint32_t, Place> open;
  std::uint32_t last = 0;
};
// Never destroyed: modules in static variables unregister at exit.
Places& places() {
  static Places& all = *new Places;
  return all;
}

}  // namespace

std::uint32_t register_module_number(const void* module, std::string (*describe)(const void* module)) {
  Places& all = places();
  const std::lock_guard lock(all.mutex);
  all.open[++all.last] = {module, describe};
  return all.last;
}

void release_module_number(std::uint32_t place) noexcept {
  if (place == 0) return;
  Places& all = places();
  const std::lock_guard lock(all.mutex);
  all.open.erase(place);
}

std::string module_text(std::uint32_t place) {
  if (place == 0) return {};
  Places& all = places();
  const std::lock_guard lock(all.mutex);
  const auto found = all.open.find(place);
  return found == all.open.end() ? std::string() : found->second.describe(found->second.module);
}

}  // namespace ebb::autograd

namespace ebb {
namespace {

void push(const std::string& name, std::int64_t sequence_nr) {
  // The text omits a sequence number that is negative as a signed integer. An AccumulateGrad node has such a
  // number, the largest unsigned one.
  cuda::nvtx::range_push(sequence_nr < 0 ? name : detail::text(name, ", seq = ", sequence_nr));
}

}  // namespace

namespace detail {

// Opens the range of an op; declared in kernel/call/slot.h. If the op records a node, the node gets this
// thread's next sequence number.
EBB_API void push_op_range(const char* name) {
  const autograd::ThreadState& state = autograd::thread_state;
  push(name, state.grad_mode ? static_cast<std::int64_t>(state.next_sequence_nr) : -1);
}
EBB_API void pop_op_range() noexcept { cuda::nvtx::range_pop(); }

}  // namespace detail

void autograd::push_node_range(const Node& node) {
  push(node.name(), static_cast<std::int64_t>(node.sequence_nr()));
}

}  // namespace ebb
