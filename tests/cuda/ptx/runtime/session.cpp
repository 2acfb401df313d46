// Settings, reports, accepted findings and the end of the process; checks of device memory ranges.
#include "cuda/ptx/runtime/session.h"

#include "cuda/emu/runtime/state.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>

namespace ebb::ptx {
namespace {

// Accepted findings, which are known not to be faults, each with its reason. All other faults are still
// reported for these kernels.

// Entries whose mangled names contain `name`, and the reason for the exception.
struct AcceptedEntry {
  const char* name;
  const char* reason;
};

// Entries that may race in global memory.
constexpr AcceptedEntry kUnorderedEntries[] = {
    {"3cub",
     "CUB's look-back: blocks poll, by volatile loads, the totals that the blocks before them publish"},
    {"map_kernel", "a thread past the end loads a unit that another thread writes in place, and drops it"},
    {"channel_run_kernel",
     "a thread past the end loads a unit that another thread writes in place, and drops it"},
    {"7PutRowsI", "index_put_ without accumulate: of values for one place any may stay"},
    {"7ScatterI", "scatter: of values for one place any may stay"},
    {"11PoolScatterI", "max_unpool: windows that overlap name a place twice, with the same value"},
};

// Entries whose vector loads of shared memory may include unwritten elements, which are not used.
constexpr AcceptedEntry kPaddedEntries[] = {
    {"14forward_kernelI", "attention's tiles have an element behind each row, which keeps the banks apart"},
    {"12query_kernelI", "the same tiles"},
    {"10key_kernelI", "the same tiles"},
    {"11mask_kernelI", "the same tiles"},
};

constexpr int kHadFindings = 70;  // the exit status

const char* environment(const char* variable) {
  const char* const text = std::getenv(variable);
  return text && *text ? text : nullptr;
}

bool is_traced() {
  static const bool traced =
      environment("EBB_PTX_TRACE") && std::string_view(environment("EBB_PTX_TRACE")) != "0";
  return traced;
}

Order chosen_order() {
  const char* const text = environment("EBB_PTX_ORDER");
  const std::string_view name = text ? text : "forward";
  if (name == "forward") return Order::forward;
  if (name == "reverse") return Order::reverse;
  if (name == "shuffled") return Order::shuffled;
  throw std::runtime_error("EBB_PTX_ORDER=" + std::string(name) +
                           " is none of forward, reverse and shuffled");
}

Settings settings() {
  Settings s;
  s.order = chosen_order();
  s.profile = environment("EBB_PTX_PROFILE") != nullptr;
  for (const AcceptedEntry& each : kUnorderedEntries) s.unordered_entries.emplace_back(each.name);
  for (const AcceptedEntry& each : kPaddedEntries) s.padded_entries.emplace_back(each.name);
  return s;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

void print(const Finding& finding) {
  std::string lines = "ptx: " + finding.text + '\n';
  if (!finding.entry.empty()) lines += "  in " + demangled(finding.entry) + ", " + finding.place + '\n';
  if (!finding.instruction.empty()) lines += "  at " + finding.instruction + '\n';
  std::fputs(lines.c_str(), stderr);
}

class Session {
 public:
  Session()
      : interpreter_(global_memory(), settings(), [this](const Finding& finding) { report(finding); }) {}

  void report(const Finding& finding) {
    ++findings_;
    print(finding);
  }

  Status run(Entry& entry, const std::string& name, const Grid& grid, std::span<const std::byte> values) {
    {
      const std::lock_guard lock(mutex_);
      ++launches_[name];
    }
    return interpreter_.run(entry, grid, values);
  }

  void finish() {
    if (const char* const path = environment("EBB_PTX_ENTRIES")) write(path, "a", entries());
    if (const char* const path = environment("EBB_PTX_PROFILE"))
      write(path, "w", profile_table(interpreter_.profile()));
    if (findings_ == 0) return;
    std::fprintf(stderr, "ptx: findings: %ld (above), for which the process ends with status %d\n",
                 findings_.load(), kHadFindings);
    std::fflush(nullptr);
    std::_Exit(kHadFindings);
  }

 private:
  std::string entries() {
    const std::lock_guard lock(mutex_);
    std::string lines;
    for (const auto& [name, count] : launches_) lines += std::to_string(count) + ' ' + name + '\n';
    return lines;
  }

  // Writes the text in one call, so that processes that append to one file do not mix their lines.
  static void write(const char* path, const char* mode, const std::string& text) {
    std::FILE* const file = std::fopen(path, mode);
    if (!file) return std::perror(path);
    std::setvbuf(file, nullptr, _IOFBF, text.size() + 1);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }

  Interpreter interpreter_;
  std::atomic<long> findings_{0};  // each entry and instruction counts once
  std::mutex mutex_;
  std::map<std::string, long> launches_;
};

Session& session() {
  static Session* const only = [] {
    auto* const made = new Session;  // outlives tensors in static storage
    std::atexit([] { session().finish(); });
    return made;
  }();
  return *only;
}

}  // namespace

GlobalMemory& global_memory() {
  static auto* const memory = new GlobalMemory;  // lives as long as the session
  return *memory;
}

Status run(Entry& entry, const std::string& name, const Grid& grid, std::span<const std::byte> values) {
  if (is_traced())
    std::fprintf(stderr, "ptx: (%u, %u, %u) blocks of (%u, %u, %u) threads, %zu bytes: %s\n", grid.blocks.x,
                 grid.blocks.y, grid.blocks.z, grid.threads.x, grid.threads.y, grid.threads.z,
                 grid.dynamic_shared, demangled(name).c_str());
  return session().run(entry, name, grid, values);
}

void report(const std::string& sentence) { session().report({sentence, {}, {}, {}}); }

void print_refusal(const std::string& name, const std::string& why) {
  std::fprintf(stderr, "ptx: a launch of %s is refused: %s\n", demangled(name).c_str(), why.c_str());
}

// Checks of device memory ranges.

namespace {

void report_range(const char* who, std::uint64_t first, std::size_t bytes, const char* fault,
                  std::uint64_t at) {
  char sentence[256];
  std::snprintf(sentence, sizeof(sentence),
                "%s of %zu bytes from 0x%" PRIx64 " on %s, from byte %" PRIu64 " on", who, bytes, first,
                fault, at - first);
  report(sentence);
}

// The end of the adjacent allocations that start at `first` (such as mappings of virtual memory), at most
// `last`. With `written` it also stops at the first unwritten byte.
std::uint64_t end_of_good(std::uint64_t first, std::uint64_t last, bool written) {
  while (first < last) {
    const Allocation* const a = global_memory().around(first);
    if (!a) return first;
    const std::uint64_t end = std::min(last, a->last);
    if (written && a->written) {
      const unsigned char* const from = a->written.get() + (first - a->first);
      if (const void* const hole = std::memchr(from, 0, end - first))
        return first + static_cast<std::uint64_t>(static_cast<const unsigned char*>(hole) - from);
    }
    first = end;
  }
  return last;
}

}  // namespace

void check_inside(const char* who, const void* first, std::size_t bytes) {
  if (bytes == 0 || !emu::is_device_memory(first)) return;
  const auto from = reinterpret_cast<std::uint64_t>(first);
  const std::uint64_t end = end_of_good(from, from + bytes, false);
  if (end < from + bytes) report_range(who, from, bytes, "accesses memory outside allocations", end);
}

void check_written(const char* who, const void* first, std::size_t bytes) {
  if (bytes == 0 || !emu::is_device_memory(first)) return;
  check_inside(who, first, bytes);
  const auto from = reinterpret_cast<std::uint64_t>(first);
  const std::uint64_t end = end_of_good(from, from + bytes, true);
  if (end < from + bytes) report_range(who, from, bytes, "reads unwritten memory", end);
}

}  // namespace ebb::ptx
