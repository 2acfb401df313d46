// A profiler that listens to ranges and writes them down, for tests.
#include <ebb/core/api.h>

#include <nvtx3/nvToolsExt.h>

#include <map>
#include <mutex>
#include <string>

namespace ebb::emu {
namespace {

constexpr int kNotCounted = -2;  // what the real one says when nobody listens

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

/// For tests, which find them by dlsym: listens from now on, and has heard nothing.
extern "C" EBB_API void ebb_emu_nvtx_listen() {
  Listener& l = listener();
  const std::lock_guard lock(l.mutex);
  l.listening = true;
  l.heard.clear();
  depth = 0;
}
/// What was heard, a line each, ranges indented by what they are in; then what the thread left open. Stops.
extern "C" EBB_API void ebb_emu_nvtx_heard(void (*take)(void* to, const char* text), void* to) {
  Listener& l = listener();
  const std::lock_guard lock(l.mutex);
  l.listening = false;
  if (depth > 0) note(l, 0, "error: ", std::to_string(depth) + " open");
  take(to, l.heard.c_str());
}
