// Where the tensors of a tape lie that come and go within it.
#include "compile/tape.h"

#include <algorithm>
#include <unordered_map>

namespace ebb::compiling {
namespace {

std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

struct Lodger {
  Place* place;
  std::vector<const Lodger*> partners;  // at whose address it may lie

  std::size_t begin() const { return place->at; }
  std::size_t end() const { return place->at + rounded(place->bytes); }
};

// The arena as far as it is laid out.
class Layout {
 public:
  void lay(const Lodger& one) {
    Place& place = *one.place;
    for (const Lodger* partner : one.partners)
      if (std::find(laid_.begin(), laid_.end(), partner) != laid_.end() && free(one, partner->begin())) {
        place.at = partner->begin();
        return keep(one);
      }
    place.at = 0;
    for (const Lodger* other : laid_) {
      if (apart(*other, one)) continue;
      if (other->begin() >= one.end()) break;
      place.at = std::max(place.at, other->end());
    }
    keep(one);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static bool apart(const Lodger& a, const Lodger& b) {
    return a.place->last < b.place->first || a.place->first > b.place->last;
  }

  // Whether it can lie at `at`, on its partners that lie there.
  bool free(const Lodger& one, std::size_t at) const {
    return std::none_of(laid_.begin(), laid_.end(), [&](const Lodger* other) {
      if (apart(*other, one) || other->begin() >= at + rounded(one.place->bytes) || other->end() <= at)
        return false;
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

}  // namespace

// The largest first, each at the lowest address where nothing lies that lives at the same time (greedy by
// size: Pisarchyk & Lee, Efficient memory management for deep neural net inference, 2020).
void plan_memory(Tape& tape) {
  std::vector<Lodger> inner;
  for (Place& place : tape.places)
    if (place.kind == Place::Kind::inner && place.first >= 0) inner.push_back({&place, {}});
  std::stable_sort(inner.begin(), inner.end(),
                   [](const Lodger& a, const Lodger& b) { return a.place->bytes > b.place->bytes; });
  std::unordered_map<const Place*, Lodger*> lodgers;
  for (Lodger& one : inner) lodgers[one.place] = &one;
  for (const TapeSuccession& each : tape.successions) {
    const auto from = lodgers.find(&tape.places[static_cast<std::size_t>(each.from)]);
    const auto to = lodgers.find(&tape.places[static_cast<std::size_t>(each.to)]);
    if (from == lodgers.end() || to == lodgers.end()) continue;
    Lodger &a = *from->second, &b = *to->second;
    if (a.place->last != each.step || b.place->first != each.step || a.place->bytes != b.place->bytes)
      continue;
    a.partners.push_back(&b);
    b.partners.push_back(&a);
  }
  std::vector<Layout> layouts;
  for (const Lodger& one : inner) {
    const Device device = one.place->stand_in->device();
    std::size_t at = 0;
    while (at < tape.arenas.size() && tape.arenas[at].device != device) ++at;
    if (at == tape.arenas.size()) {
      tape.arenas.push_back({device, 0, nullptr});
      layouts.emplace_back();
    }
    layouts[at].lay(one);
    tape.arenas[at].bytes = layouts[at].bytes();
  }
}

}  // namespace ebb::compiling
