// Pickles as data: the machine of Python's pickle module without what runs code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::io {

/// What a pickle describes, as nodes that refer to each other by number: shared and even cyclic things cost
/// nothing here.
struct Pickle {
  enum class Kind { None, Bool, Int, Double, String, List, Tuple, Dict, Global, Reference, Call };
  struct Node {
    Kind kind = Kind::None;
    std::int64_t integer = 0;  ///< of Bool and Int
    double number = 0;
    std::string text;                  ///< of String; of Global "module.name"
    std::vector<std::uint32_t> items;  ///< of a Dict key, value, key, value, ...; of a Call function and
                                       ///< arguments; of a Reference its id
    // Of a Call: what was appended or set after it was made, and its attributes, keys and values in turn.
    std::vector<std::uint32_t> contents, attributes;
  };
  std::vector<Node> nodes;
  std::uint32_t root = 0;
  const Node& at(std::uint32_t node) const { return nodes[node]; }
};

/// Parses one pickle of the protocols 2 to 5 and moves `position` behind it. Throws for opcodes that data
/// does not need, and for what is cut short or does not fit the machine.
Pickle parse_pickle(std::string_view bytes, std::size_t& position);

}  // namespace ebb::io
