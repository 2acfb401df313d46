// A profiler that records ranges, for tests.
#include <ebb/core/api.h>

#include <nvtx3/nvToolsExt.h>

#include <map>
#include <mutex>
#include <string>

namespace ebb::emu {
namespace {

constexpr int kNotCounted = -2;  // the return value of the real library without a profiler

struct Listener {
  std::mutex mutex;
  bool listening = false;
  std::string heard;
  std::map<nvtxRangeId_t, std::string> started;
  nvtxRangeId_t last = 0;
};

Listener& listener() {
  static auto* const l = new Listener;
  return *l;
}

thread_local int depth = 0;

void note(Listener& to, int indent, const char* sign, const std::string& message) {
  to.heard.append(static_cast<std::size_t>(indent) * 2, ' ').append(sign).append(message) += '\n';
}

}  // namespace
}  // namespace ebb::emu

using namespace ebb::emu;

int nvtxRangePushA(const char* message) {
  Listener& l = listener();
  const std::lock_guard lock(l.mutex);
  if (!l.listening) return kNotCounted;
  note(l, depth, "", message);
  return depth++;
}

int nvtxRangePop() {
  Listener& l = listener();
  const std::lock_guard lock(l.mutex);
  if (!l.listening) return kNotCounted;
  if (depth == 0) {
    note(l, 0, "error: ", "nothing to pop");
    return -1;
  }
  return --depth;
}

void nvtxMarkA(const char* message) {
  Listener& l = listener();
  const std::lock_guard lock(l.mutex);
  if (l.listening) note(l, depth, "mark ", message);
}

nvtxRangeId_t nvtxRangeStartA(const char* message) {
  Listener& l = listener();
  const std::lock_guard lock(l.mutex);
  if (!l.listening) return 0;
  note(l, 0, "start ", message);
  l.started.emplace(++l.last, message);
  return l.last;
}

void nvtxRangeEnd(nvtxRangeId_t id) {
  Listener& l = listener();
  const std::lock_guard lock(l.mutex);
  const auto found = l.started.find(id);
  if (found == l.started.end()) {
    if (l.listening) note(l, 0, "error: ", "no such range to end");
    return;
  }
  note(l, 0, "end ", found->second);
  l.started.erase(found);
}

/// For tests, which find it with dlsym: starts recording with an empty record.
extern "C" EBB_API void ebb_emu_nvtx_listen() {
  Listener& l = listener();
  const std::lock_guard lock(l.mutex);
  l.listening = true;
  l.heard.clear();
  depth = 0;
}
/// Stops recording and returns the record: one line for each event, with nested ranges indented; then the
/// ranges that the thread left open.
extern "C" EBB_API void ebb_emu_nvtx_heard(void (*take)(void* to, const char* text), void* to) {
  Listener& l = listener();
  const std::lock_guard lock(l.mutex);
  l.listening = false;
  if (depth > 0) note(l, 0, "error: ", std::to_string(depth) + " open");
  take(to, l.heard.c_str());
}
