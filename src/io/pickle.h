// Pickles as data: the machine of Python's pickle module without what runs code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::io {

/// What a pickle describes, as nodes that refer to each other by number: shared and even cyclic things cost
/// nothing here, and no node costs more than a few times the bytes that make it. Texts stay in the pickle's
/// bytes, which must outlive this.
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
  /// The length of the pickle.
  std::size_t bytes() const { return length_; }

  Kind kind(Index node) const { return nodes_[node].kind; }
  /// The value of a Bool or an Int; 0 of others.
  std::int64_t integer(Index node) const;
  double number(Index node) const;
  /// The bytes of a String; empty of others.
  std::string_view text(Index node) const;
  /// The "module.name" of a Global; empty of others.
  std::string name(Index node) const;
  /// The function of a Call, what it is given, and the id of a Reference.
  Index function(Index call) const { return nodes_[call].a; }
  Index arguments(Index call) const { return nodes_[call].b; }
  Index id(Index reference) const { return nodes_[reference].a; }

  /// Nodes one after the other, linked.
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
    /// The first of them, at most `n`.
    std::vector<Index> first(std::size_t n) const;

   private:
    friend class Pickle;
    Items(const Pickle* pickle, Index first, std::size_t size)
        : pickle_(pickle), first_(first), size_(size) {}
    const Pickle* pickle_;
    Index first_;
    std::size_t size_;
  };
  /// The items of a List, a Tuple or a Dict (key, value, key, value, ...); none of others.
  Items items(Index node) const;
  /// The items that a Call's result got after it was made, and the dicts that its attributes were set from.
  Items contents(Index call) const;
  Items states(Index call) const;

 private:
  friend class PickleMachine;
  static constexpr Index kNone = ~Index{0};

  struct Node {
    Index a = kNone, b = kNone;  // an integer's or a number's halves; a text's place and length; a global's
                                 // module and name; the first and the last cell of a container
    Index c = 0;                 // a container's size; of a call 1 + its place in more_, if it has any
    Kind kind = Kind::None;
    std::uint8_t levels = 0;  // below this one, as far as they were there when it got what it holds
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

  // In blocks: no vector that grows holds them twice.
  std::deque<Node> nodes_;
  std::deque<Cell> cells_;
  std::deque<More> more_;
  std::string_view text_;
  std::size_t length_ = 0;
  Index root_ = 0;
};

/// Parses one pickle of the protocols 2 to 5 and moves `position` behind it, or, where the bytes end within
/// it, to their end. Throws for opcodes that data does not need, and for what is cut short or does not fit
/// the machine.
Pickle parse_pickle(std::string_view bytes, std::size_t& position);

}  // namespace ebb::io
