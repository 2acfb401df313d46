// The parts of an emitted source: its arrays, its calls and its results.
#pragma once

#include <ebb/io/safetensors.h>

#include <array>
#include <map>
#include <string>

#include "compile/tape.h"

namespace ebb::compiling {

/// Where inner places lie: all of a tape's, planned anew, for calls that run together in a replay are written
/// down one by one.
class ArenaPlan {
 public:
  explicit ArenaPlan(const Tape& tape);
  std::size_t at(std::size_t place) const { return plan_.places[place].at; }
  std::size_t bytes() const { return plan_.arenas.empty() ? 0 : plan_.arenas[0].bytes; }

 private:
  Tape plan_;
};

class SourceParts {
 public:
  explicit SourceParts(const Tape& tape);

  /// The members of a class derived from emitted::Plan, a line an array; those on one kind of place together.
  std::string arrays() const;
  /// A line a call.
  const std::string& calls() const { return calls_; }
  /// A list of given(array).
  const std::string& results() const { return results_; }
  /// What the arrays read from a file.
  const safetensors::NamedTensors& weights() const { return weights_; }
  std::size_t arena_bytes() const { return arena_.bytes(); }

 private:
  struct Named {
    std::string name;  // of the first array on the place
    int others = 0;
  };
  std::string name_of(const NdArray& array);
  std::string memory(std::size_t at, const std::string& name, const NdArray& array);
  void keep(const std::string& name, const NdArray& array, const void* data, std::size_t bytes);

  const Tape& tape_;
  ArenaPlan arena_;
  std::map<const Storage*, std::size_t> places_;  // by their stand-ins
  std::map<std::size_t, Named> named_;
  std::map<std::string, std::string> by_layout_;  // names of the arrays there are
  std::map<char, int> count_;                     // of names that begin with a letter
  std::array<std::string, 6> arrays_;             // by Place::Kind
  std::string calls_, results_;
  safetensors::NamedTensors weights_;
};

/// "{32, 784}".
std::string list_text(IntArrayRef list);

}  // namespace ebb::compiling
