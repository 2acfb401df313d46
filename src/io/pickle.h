// Pickle: the pickle format of Python as data. Opcodes that run code are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::io {

/// The values of a pickle as nodes that refer to each other by index. Shared and cyclic values cost no extra
/// memory, and a node is at most a few times as large as its bytes in the pickle. Strings refer to the
/// pickle's bytes, which must outlive this object.
class Pickle {
 public:
  enum class Kind : std::uint8_t {
    None,
    Bool,
    Int,
    Double,
    String,
    List,
    Tuple,
    Dict,
    Global,
    Reference,
    Call
  };
  using Index = std::uint32_t;

  Index root() const { return root_; }
  std::size_t size() const { return nodes_.size(); }
  /// Returns the length of the pickle.
  std::size_t bytes() const { return length_; }

  Kind kind(Index node) const { return nodes_[node].kind; }
  /// Returns the value of a Bool or an Int; 0 for other nodes.
  std::int64_t integer(Index node) const;
  double number(Index node) const;
  /// Returns the bytes of a String; empty for other nodes.
  std::string_view text(Index node) const;
  /// Returns the "module.name" of a Global; empty for other nodes.
  std::string name(Index node) const;
  /// Return the function and the arguments of a Call, and the id of a Reference.
  Index function(Index call) const { return nodes_[call].a; }
  Index arguments(Index call) const { return nodes_[call].b; }
  Index id(Index reference) const { return nodes_[reference].a; }

  /// A linked list of nodes.
  class Items {
   public:
    class Iterator {
     public:
      Index operator*() const { return pickle_->cells_[at_].node; }
      Iterator& operator++() {
        at_ = pickle_->cells_[at_].next;
        return *this;
      }
      bool operator==(const Iterator& other) const { return at_ == other.at_; }

     private:
      friend class Items;
      Iterator(const Pickle* pickle, Index at) : pickle_(pickle), at_(at) {}
      const Pickle* pickle_;
      Index at_;
    };
    Iterator begin() const { return {pickle_, first_}; }
    Iterator end() const { return {pickle_, kNone}; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    /// Returns the first nodes, at most `n`.
    std::vector<Index> first(std::size_t n) const;

   private:
    friend class Pickle;
    Items(const Pickle* pickle, Index first, std::size_t size)
        : pickle_(pickle), first_(first), size_(size) {}
    const Pickle* pickle_;
    Index first_;
    std::size_t size_;
  };
  /// Returns the items of a List, a Tuple or a Dict (key, value, key, value, ...); empty for other nodes.
  Items items(Index node) const;
  /// Returns the items that were added to the result of a Call, and the dicts from which its attributes were
  /// set.
  Items contents(Index call) const;
  Items states(Index call) const;

 private:
  friend class PickleMachine;
  static constexpr Index kNone = ~Index{0};

  struct Node {
    Index a = kNone, b = kNone;  // the halves of an Int or a Double; the offset and length of a String; the
                                 // module and name of a Global; the first and last cell of a container
    Index c = 0;                 // the size of a container; 1 + the index in more_ of a Call, or 0
    Kind kind = Kind::None;
    std::uint8_t levels = 0;  // a lower bound of the depth below the node, updated when it gets an item
  };
  struct Cell {
    Index node, next;
  };
  struct Chain {
    Index first = kNone, last = kNone, size = 0;
    std::uint8_t levels = 0;
  };
  struct More {
    Chain contents, states;
  };
  std::uint64_t wide(Index node) const {
    return std::uint64_t{nodes_[node].b} << 32 | std::uint64_t{nodes_[node].a};
  }

  // The nodes are in a deque, because a vector that grows would temporarily store them twice.
  std::deque<Node> nodes_;
  std::deque<Cell> cells_;
  std::deque<More> more_;
  std::string_view text_;
  std::size_t length_ = 0;
  Index root_ = 0;
};

/// Parses one pickle of protocol 2 to 5 and moves `position` to its end. If the bytes end within the pickle,
/// `position` moves to the end of the bytes. Throws for opcodes that data does not need, for a truncated
/// pickle, and for a pickle that breaks the rules of the pickle machine.
Pickle parse_pickle(std::string_view bytes, std::size_t& position);

}  // namespace ebb::io
