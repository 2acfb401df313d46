// Where the tensors of a tape lie that come and go within it.
#include "compile/tape.h"

#include <algorithm>
#include <unordered_map>

namespace ebb::compiling {
namespace {

std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// The arena as far as it is laid out.
class Layout {
 public:
  void lay(Place* place, const std::vector<const Place*>& partners) {
    place->at = 0;
    for (const Place* partner : partners)
      if (std::find(laid_.begin(), laid_.end(), partner) != laid_.end() &&
          free(*place, partner->at, partners)) {
        place->at = partner->at;
        return keep(place);
      }
    for (const Place* other : laid_) {
      if (apart(*other, *place)) continue;
      if (other->at >= place->at + rounded(place->bytes)) break;
      place->at = std::max(place->at, other->at + rounded(other->bytes));
    }
    keep(place);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static bool apart(const Place& a, const Place& b) { return a.last < b.first || a.first > b.last; }

  // Whether the place can lie at `at`, on its partners that lie there.
  bool free(const Place& place, std::size_t at, const std::vector<const Place*>& partners) const {
    return std::none_of(laid_.begin(), laid_.end(), [&](const Place* other) {
      if (apart(*other, place) || other->at >= at + rounded(place.bytes) ||
          other->at + rounded(other->bytes) <= at)
        return false;
      return other->at != at || std::find(partners.begin(), partners.end(), other) == partners.end();
    });
  }
  void keep(Place* place) {
    laid_.insert(std::upper_bound(laid_.begin(), laid_.end(), place,
                                  [](const Place* a, const Place* b) { return a->at < b->at; }),
                 place);
    bytes_ = std::max(bytes_, place->at + rounded(place->bytes));
  }

  std::vector<const Place*> laid_;  // by address
  std::size_t bytes_ = 0;
};

}  // namespace

// The largest first, each at the lowest address where nothing lies that lives at the same time (greedy by
// size: Pisarchyk & Lee, Efficient memory management for deep neural net inference, 2020).
void plan_memory(Tape& tape) {
  std::vector<Place*> inner;
  for (Place& place : tape.places)
    if (place.kind == Place::Kind::inner && place.first >= 0) inner.push_back(&place);
  std::stable_sort(inner.begin(), inner.end(),
                   [](const Place* a, const Place* b) { return a->bytes > b->bytes; });
  std::unordered_map<const Place*, std::vector<const Place*>> partners;
  for (const TapeSuccession& each : tape.successions) {
    const Place& from = tape.places[static_cast<std::size_t>(each.from)];
    const Place& to = tape.places[static_cast<std::size_t>(each.to)];
    const bool both = from.kind == Place::Kind::inner && to.kind == Place::Kind::inner;
    if (!both || from.last != each.call || to.first != each.call || from.bytes != to.bytes) continue;
    partners[&from].push_back(&to);
    partners[&to].push_back(&from);
  }
  std::vector<Layout> layouts;
  for (Place* place : inner) {
    const Device device = place->stand_in->device();
    std::size_t at = 0;
    while (at < tape.arenas.size() && tape.arenas[at].device != device) ++at;
    if (at == tape.arenas.size()) {
      tape.arenas.push_back({device, 0, nullptr});
      layouts.emplace_back();
    }
    layouts[at].lay(place, partners[place]);
    tape.arenas[at].bytes = layouts[at].bytes();
  }
}

}  // namespace ebb::compiling
