// Which calls of a tape touch which places.
#pragma once

#include "compile/tape.h"

#include <unordered_map>

namespace ebb::compiling {

class Touches {
 public:
  explicit Touches(const Tape& tape);

  /// The place that a tape's array is on.
  int place(const NdArray& array) const { return places_.at(array.storage().get()); }
  /// In order, each once.
  const std::vector<int>& calls(int place) const { return calls_[static_cast<std::size_t>(place)]; }
  const std::vector<int>& writers(int place) const { return writers_[static_cast<std::size_t>(place)]; }
  /// Whether a call after `first` and before `last` touches the place.
  bool between(int place, int first, int last) const;
  /// The last call before `before` that touches it, or -1.
  int last_before(int place, int before) const;
  bool written_between(int place, int first, int last) const;
  std::size_t places() const { return calls_.size(); }

 private:
  std::unordered_map<const Storage*, int> places_;
  std::vector<std::vector<int>> calls_, writers_;
};

}  // namespace ebb::compiling
