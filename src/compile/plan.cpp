// The memory plan: offsets in the arenas for temporaries and for the scratch memory of programs.
#include <ebb/core/parallel.h>

#include "compile/fuse.h"
#include "compile/tape.h"

#include <algorithm>
#include <climits>
#include <queue>
#include <unordered_map>

namespace ebb::detail::compile {

constinit std::atomic<std::uint64_t> comparisons{0};

namespace {

// Memory that is needed during some steps.
struct LiveRange {
  std::size_t* offset;
  std::size_t bytes;
  int first, last;
  int idle_first, idle_last;
  Device device;
  std::vector<const LiveRange*> aliases;  // ranges whose address it may share (in-place reuse)

  std::size_t begin() const { return *offset; }
  std::size_t end() const { return *offset + bytes; }
};

// The allocated part of an arena.
class Layout {
 public:
  void allocate(const LiveRange& one) {
    count_comparisons(allocated_.size());
    for (const LiveRange* alias : one.aliases)
      if (std::find(allocated_.begin(), allocated_.end(), alias) != allocated_.end() &&
          free(one, alias->begin())) {
        *one.offset = alias->begin();
        return insert(one);
      }
    *one.offset = 0;
    for (const LiveRange* other : allocated_) {
      if (disjoint(*other, one)) continue;
      if (other->begin() >= one.end()) break;
      *one.offset = std::max(*one.offset, other->end());
    }
    insert(one);
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return allocated_.size(); }

 private:
  static bool disjoint(const LiveRange& a, const LiveRange& b) {
    const auto idle_during = [](const LiveRange& one, const LiveRange& other) {
      return one.idle_first <= other.first && other.last <= one.idle_last;
    };
    return a.last < b.first || a.first > b.last || idle_during(a, b) || idle_during(b, a);
  }

  // Returns whether `bytes` bytes from `at` on are free during the live range. The bytes of an alias that
  // begins at `at` count as free.
  bool free(const LiveRange& one, std::size_t at) const {
    return std::none_of(allocated_.begin(), allocated_.end(), [&](const LiveRange* other) {
      if (disjoint(*other, one) || other->begin() >= at + one.bytes || other->end() <= at) return false;
      return other->begin() != at ||
             std::find(one.aliases.begin(), one.aliases.end(), other) == one.aliases.end();
    });
  }
  void insert(const LiveRange& one) {
    allocated_.insert(
        std::upper_bound(allocated_.begin(), allocated_.end(), &one,
                         [](const LiveRange* a, const LiveRange* b) { return a->begin() < b->begin(); }),
        &one);
    bytes_ = std::max(bytes_, one.end());
  }

  std::vector<const LiveRange*> allocated_;  // sorted by address
  std::size_t bytes_ = 0;
};

// Allocates the ranges in the order of time, at the end of the arena. Each range reuses the memory of an
// ended range of the same size, or extends the arena. This takes less time than a comparison of all pairs of
// ranges.
void allocate_by_time(std::vector<LiveRange*> ranges, std::size_t& bytes) {
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const LiveRange* a, const LiveRange* b) { return a->first < b->first; });
  const auto later = [](const LiveRange* a, const LiveRange* b) { return a->last > b->last; };
  std::priority_queue<const LiveRange*, std::vector<const LiveRange*>, decltype(later)> living(later);
  std::unordered_map<std::size_t, std::vector<std::size_t>> free;  // free addresses, keyed by size
  for (LiveRange* const one : ranges) {
    for (; !living.empty() && living.top()->last < one->first; living.pop())
      free[living.top()->bytes].push_back(living.top()->begin());
    std::vector<std::size_t>& buffers = free[one->bytes];
    if (buffers.empty()) {
      *one->offset = bytes;
      bytes += one->bytes;
    } else {
      *one->offset = buffers.back();
      buffers.pop_back();
    }
    living.push(one);
  }
}

// The number of ranges of a device that are allocated by size. The remaining ones are smaller and hardly
// affect the size of the arena.
constexpr std::size_t kMostBySize = 2048;

}  // namespace

// Allocates the largest ranges first, each at the lowest address that is free during the range (greedy by
// size: Pisarchyk & Lee, Efficient memory management for deep neural net inference, 2020). This compares all
// pairs of ranges, so only the kMostBySize largest ranges of a device are allocated in this way, and the
// others by allocate_by_time().
void plan_memory(Tape& tape) {
  tape.work_threads = INT_MAX;
  std::vector<LiveRange> ranges;
  for (Buffer& buffer : tape.buffers)
    if (buffer.kind == Buffer::Kind::temporary && buffer.first >= 0)
      ranges.push_back({&buffer.arena_offset,
                        to_lines(buffer.bytes),
                        buffer.first,
                        buffer.last,
                        buffer.idle_first,
                        buffer.idle_last,
                        buffer.placeholder->device(),
                        {}});
  for (std::size_t i = 0; i < tape.steps.size(); ++i) {
    TapeStep& step = tape.steps[i];
    const std::size_t bytes = step.program ? step.program->work_bytes() : 0;
    if (bytes == 0) continue;
    const Device device = step.program->work_device();
    if (device.is_cpu()) tape.work_threads = get_num_threads();
    const auto now = static_cast<int>(i);
    ranges.push_back({&step.work_offset, to_lines(bytes), now, now, 0, -1, device, {}});
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const LiveRange& a, const LiveRange& b) { return a.bytes > b.bytes; });
  std::unordered_map<const std::size_t*, LiveRange*> known;
  for (LiveRange& one : ranges) known[one.offset] = &one;
  for (const InPlaceReuse& each : tape.reuses) {
    const auto from = known.find(&tape.buffers[static_cast<std::size_t>(each.from)].arena_offset);
    const auto to = known.find(&tape.buffers[static_cast<std::size_t>(each.to)].arena_offset);
    if (from == known.end() || to == known.end()) continue;
    LiveRange &a = *from->second, &b = *to->second;
    if (a.last != each.step || b.first != each.step || a.bytes != b.bytes) continue;
    a.aliases.push_back(&b);
    b.aliases.push_back(&a);
  }
  tape.arenas.clear();
  std::vector<Layout> layouts;
  std::vector<std::vector<LiveRange*>> small;
  for (LiveRange& one : ranges) {
    std::size_t at = 0;
    while (at < tape.arenas.size() && tape.arenas[at].device != one.device) ++at;
    if (at == tape.arenas.size()) {
      tape.arenas.push_back({one.device, 0, nullptr});
      layouts.emplace_back();
      small.emplace_back();
    }
    if (layouts[at].size() == kMostBySize)
      small[at].push_back(&one);
    else
      layouts[at].allocate(one);
  }
  for (std::size_t at = 0; at < layouts.size(); ++at) {
    tape.arenas[at].bytes = layouts[at].bytes();
    allocate_by_time(std::move(small[at]), tape.arenas[at].bytes);
  }
}

}  // namespace ebb::detail::compile
