// Where the tensors of a tape lie that come and go within it.
#include "compile/tape.h"
#include "compile/work.h"

#include <ebb/core/parallel.h>

#include <algorithm>
#include <climits>
#include <queue>
#include <unordered_map>

namespace ebb::compiling {

constinit std::atomic<std::uint64_t> comparisons{0};

namespace {

// Who needs memory, at some steps.
struct Lodger {
  std::size_t* at;
  std::size_t bytes;
  int first, last;
  Device device;
  std::vector<const Lodger*> partners;  // at whose address it may lie

  std::size_t begin() const { return *at; }
  std::size_t end() const { return *at + bytes; }
};

// The arena as far as it is laid out.
class Layout {
 public:
  void lay(const Lodger& one) {
    count_comparisons(laid_.size());
    for (const Lodger* partner : one.partners)
      if (std::find(laid_.begin(), laid_.end(), partner) != laid_.end() && free(one, partner->begin())) {
        *one.at = partner->begin();
        return keep(one);
      }
    *one.at = 0;
    for (const Lodger* other : laid_) {
      if (apart(*other, one)) continue;
      if (other->begin() >= one.end()) break;
      *one.at = std::max(*one.at, other->end());
    }
    keep(one);
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return laid_.size(); }

 private:
  static bool apart(const Lodger& a, const Lodger& b) { return a.last < b.first || a.first > b.last; }

  // Whether it can lie at `at`, on its partners that lie there.
  bool free(const Lodger& one, std::size_t at) const {
    return std::none_of(laid_.begin(), laid_.end(), [&](const Lodger* other) {
      if (apart(*other, one) || other->begin() >= at + one.bytes || other->end() <= at) return false;
      return other->begin() != at ||
             std::find(one.partners.begin(), one.partners.end(), other) == one.partners.end();
    });
  }
  void keep(const Lodger& one) {
    laid_.insert(std::upper_bound(laid_.begin(), laid_.end(), &one,
                                  [](const Lodger* a, const Lodger* b) { return a->begin() < b->begin(); }),
                 &one);
    bytes_ = std::max(bytes_, one.end());
  }

  std::vector<const Lodger*> laid_;  // by address
  std::size_t bytes_ = 0;
};

// The arena behind the layout, for those that are too many to be compared with each other: by time, each at
// the address of one that has ended and was as large, or behind all.
void lay_by_time(std::vector<Lodger*> lodgers, std::size_t& bytes) {
  std::stable_sort(lodgers.begin(), lodgers.end(),
                   [](const Lodger* a, const Lodger* b) { return a->first < b->first; });
  const auto later = [](const Lodger* a, const Lodger* b) { return a->last > b->last; };
  std::priority_queue<const Lodger*, std::vector<const Lodger*>, decltype(later)> living(later);
  std::unordered_map<std::size_t, std::vector<std::size_t>> free;  // addresses, by their bytes
  for (Lodger* const one : lodgers) {
    for (; !living.empty() && living.top()->last < one->first; living.pop())
      free[living.top()->bytes].push_back(living.top()->begin());
    std::vector<std::size_t>& places = free[one->bytes];
    if (places.empty()) {
      *one->at = bytes;
      bytes += one->bytes;
    } else {
      *one->at = places.back();
      places.pop_back();
    }
    living.push(one);
  }
}

// So many of a device are laid out by size; smaller ones hardly matter to the arena.
constexpr std::size_t kMostBySize = 2048;

}  // namespace

// The largest first, each at the lowest address where nothing lies that lives at the same time (greedy by
// size: Pisarchyk & Lee, Efficient memory management for deep neural net inference, 2020). That takes as many
// comparisons as there are pairs, so the smallest of very many are laid out by time.
void plan_memory(Tape& tape) {
  tape.work_threads = INT_MAX;
  std::vector<Lodger> lodgers;
  for (Place& place : tape.places)
    if (place.kind == Place::Kind::inner && place.first >= 0)
      lodgers.push_back(
          {&place.at, to_lines(place.bytes), place.first, place.last, place.stand_in->device(), {}});
  for (std::size_t i = 0; i < tape.steps.size(); ++i) {
    TapeStep& step = tape.steps[i];
    const std::size_t bytes = step.program ? step.program->work_bytes() : 0;
    if (bytes == 0) continue;
    const Device device = step.program->work_device();
    if (device.is_cpu()) tape.work_threads = get_num_threads();
    const auto now = static_cast<int>(i);
    lodgers.push_back({&step.work_at, to_lines(bytes), now, now, device, {}});
  }
  std::stable_sort(lodgers.begin(), lodgers.end(),
                   [](const Lodger& a, const Lodger& b) { return a.bytes > b.bytes; });
  std::unordered_map<const std::size_t*, Lodger*> known;
  for (Lodger& one : lodgers) known[one.at] = &one;
  for (const TapeSuccession& each : tape.successions) {
    const auto from = known.find(&tape.places[static_cast<std::size_t>(each.from)].at);
    const auto to = known.find(&tape.places[static_cast<std::size_t>(each.to)].at);
    if (from == known.end() || to == known.end()) continue;
    Lodger &a = *from->second, &b = *to->second;
    if (a.last != each.step || b.first != each.step || a.bytes != b.bytes) continue;
    a.partners.push_back(&b);
    b.partners.push_back(&a);
  }
  tape.arenas.clear();
  std::vector<Layout> layouts;
  std::vector<std::vector<Lodger*>> small;
  for (Lodger& one : lodgers) {
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
      layouts[at].lay(one);
  }
  for (std::size_t at = 0; at < layouts.size(); ++at) {
    tape.arenas[at].bytes = layouts[at].bytes();
    lay_by_time(std::move(small[at]), tape.arenas[at].bytes);
  }
}

}  // namespace ebb::compiling
