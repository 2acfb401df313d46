// The pickle machine: a stack, marks and a memo (Python's pickletools describes the opcodes).
#include <ebb/core/error.h>

#include "io/pickle.h"

#include <algorithm>
#include <array>
#include <bit>

namespace ebb::io {
namespace {

using Kind = Pickle::Kind;
constexpr std::size_t kMaxNodes = 10'000'000;
// Limits that are sufficient for values of a hundred levels. A level of a value takes one or two levels of
// the pickle. Each of these takes a few marks and a few unmarked values.
constexpr std::size_t kMaxMarks = 1000, kMaxUnmarked = 1000;
constexpr std::uint8_t kMaxLevels = 250;
// Writers number memo entries from zero, so a key is at most the pickle's size. Keys below this bound are
// always accepted.
constexpr std::uint64_t kAnyMemo = 1 << 16;
constexpr std::size_t kLongestName = 1000;

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  ebb::detail::fail("pickle: the file is not sound: ", parts..., ". Fetch or write it again.");
}

}  // namespace

class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, std::size_t& position) : bytes_(bytes), at_(position) {
    result_.text_ = bytes;
    small_.fill(Pickle::kNone);
    shared_.fill(Pickle::kNone);
  }

  Pickle run() {
    const std::size_t begin = at_;
    while (true) {
      const unsigned char opcode = u8();
      if (opcode == '.') break;
      step(opcode);
      if (marks_.empty() && stack_.size() > kMaxUnmarked) too_deep();
    }
    result_.root_ = pop();
    result_.length_ = at_ - begin;
    return std::move(result_);
  }

 private:
  using Index = Pickle::Index;
  using Node = Pickle::Node;
  using Chain = Pickle::Chain;

  // Access to the bytes of the pickle.
  [[noreturn]] void cut_short() {
    at_ = bytes_.size();
    unsound("a pickle is cut short");
  }
  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size() - at_) cut_short();
    const std::string_view taken = bytes_.substr(at_, n);
    at_ += n;
    return taken;
  }
  std::uint64_t little(unsigned n) {
    const std::string_view taken = take(n);
    std::uint64_t value = 0;
    for (unsigned i = n; i-- > 0;) value = value << 8 | static_cast<unsigned char>(taken[i]);
    return value;
  }
  unsigned char u8() { return static_cast<unsigned char>(take(1)[0]); }
  std::string_view line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) cut_short();
    const std::string_view text = take(end - at_);
    take(1);
    return text;
  }

  // Operations of the stack.
  Index make(Kind kind) {
    if (result_.nodes_.size() >= kMaxNodes) unsound("a pickle of more than ten million values");
    result_.nodes_.emplace_back().kind = kind;
    return static_cast<Index>(result_.nodes_.size() - 1);
  }
  Node& node(Index i) { return result_.nodes_[i]; }
  Index push(Kind kind) {
    stack_.push_back(make(kind));
    return stack_.back();
  }
  // Immutable values of one byte share one node for all their occurrences.
  enum Shared { kNull, kFalse, kTrue, kEmptyTuple, kEmptyText, kSharedCount };
  void push_shared(Shared which, Kind kind) {
    Index& known = shared_[which];
    if (known == Pickle::kNone) {
      known = make(kind);
      if (kind == Kind::Bool) set_wide(known, which == kTrue);
      if (kind == Kind::String) node(known).a = node(known).b = 0;
    }
    stack_.push_back(known);
  }
  void set_wide(Index i, std::uint64_t value) {
    node(i).a = static_cast<Index>(value);
    node(i).b = static_cast<Index>(value >> 32);
  }
  Index text_node(std::string_view text) {
    const auto at = static_cast<std::size_t>(text.data() - bytes_.data());
    if (at + text.size() >= Pickle::kNone) unsound("a pickle of more than 4 GiB");
    const Index i = make(Kind::String);
    node(i).a = static_cast<Index>(at);
    node(i).b = static_cast<Index>(text.size());
    return i;
  }
  void push_text(std::string_view text) {
    if (text.empty())
      push_shared(kEmptyText, Kind::String);
    else
      stack_.push_back(text_node(text));
  }
  void push_integer(std::int64_t value) { set_wide(push(Kind::Int), static_cast<std::uint64_t>(value)); }
  void push_small(std::size_t value) {
    Index& known = small_[value];
    if (known == Pickle::kNone) set_wide(known = make(Kind::Int), value);
    stack_.push_back(known);
  }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  Index top() {
    if (stack_.size() <= floor()) unsound("a pickle takes more values than its stack has");
    return stack_.back();
  }
  Index pop() {
    const Index top_one = top();
    stack_.pop_back();
    return top_one;
  }
  void link(Chain& chain, Index item) {
    if (result_.cells_.size() + 1 >= Pickle::kNone) unsound("a pickle of more than four billion items");
    const auto cell = static_cast<Index>(result_.cells_.size());
    result_.cells_.push_back({item, Pickle::kNone});
    if (chain.size == 0)
      chain.first = cell;
    else
      result_.cells_[chain.last].next = cell;
    chain.last = cell;
    ++chain.size;
    raise(chain.levels, item);
  }
  // Updates the depth of a container that gets an item.
  void raise(std::uint8_t& levels, Index item) {
    if (node(item).levels >= kMaxLevels) too_deep();
    levels = std::max<std::uint8_t>(levels, node(item).levels + 1);
  }
  [[noreturn]] static void too_deep() { unsound("values are more than a hundred levels deep"); }
  // Removes the last mark and the items above it.
  void pop_mark() {
    if (marks_.empty()) unsound("a pickle lacks a mark");
    stack_.resize(marks_.back());
    marks_.pop_back();
  }
  Chain pop_to_mark(Chain chain = {}) {
    for (std::size_t i = floor(); i < stack_.size(); ++i) link(chain, stack_[i]);
    pop_mark();
    return chain;
  }
  void hold(Index container, const Chain& chain) {
    node(container).a = chain.first;
    node(container).b = chain.last;
    node(container).c = chain.size;
    node(container).levels = chain.levels;
  }
  Chain held(Index container) {
    return {node(container).a, node(container).b, node(container).c, node(container).levels};
  }
  void push_tuple(const Chain& chain) {
    if (chain.size == 0)
      push_shared(kEmptyTuple, Kind::Tuple);
    else
      hold(push(Kind::Tuple), chain);
  }
  void push_tuple_of(std::size_t n) {
    std::array<Index, 3> items;
    for (std::size_t i = n; i-- > 0;) items[i] = pop();
    Chain chain;
    for (std::size_t i = 0; i < n; ++i) link(chain, items[i]);
    push_tuple(chain);
  }
  Pickle::More& more(Index call) {
    if (node(call).c == 0) {
      result_.more_.emplace_back();
      node(call).c = static_cast<Index>(result_.more_.size());
    }
    return result_.more_[node(call).c - 1];
  }
  // Replaces the items of a container by add(items). The container may also be an object with items: a set, a
  // deque or an OrderedDict.
  template <class Add>
  void extend(Index to, Kind kind, const char* is_none, const Add& add) {
    if (node(to).kind == kind)
      hold(to, add(held(to)));
    else if (node(to).kind == Kind::Call)
      node(to).levels = std::max(node(to).levels, (more(to).contents = add(more(to).contents)).levels);
    else
      unsound(is_none);
  }
  // Moves the items above the mark to the list or dict below it.
  void extend_marked(Kind kind, const char* is_none) {
    if (marks_.empty()) unsound("a pickle lacks a mark");
    const std::size_t mark = marks_.back(), below = marks_.size() > 1 ? marks_[marks_.size() - 2] : 0;
    if (mark <= below) unsound("a pickle takes more values than its stack has");
    if (kind == Kind::Dict && (stack_.size() - mark) % 2 != 0) unsound(is_none);
    extend(stack_[mark - 1], kind, is_none, [&](const Chain& chain) { return pop_to_mark(chain); });
  }
  void push_marked(Kind kind) {
    const Chain chain = pop_to_mark();
    if (kind == Kind::Dict && chain.size % 2 != 0) unsound(kNoDict);
    hold(push(kind), chain);
  }
  void build() {  // the state of an object is a dict of attributes, or a pair of two dicts
    const Index state = pop(), to = top();
    // The attributes of plain containers are not data, so they are ignored.
    if (node(to).kind != Kind::Call || node(state).kind != Kind::Dict) return;
    link(more(to).states, state);
    raise(node(to).levels, state);
  }
  void memoize(std::uint64_t key) {
    if (key >= std::max<std::uint64_t>(kAnyMemo, bytes_.size()))
      unsound("a pickle stores a value in its memo as number ", key, ", which is too large");
    if (key >= memo_.size()) memo_.resize(key + 1, Pickle::kNone);
    remembered_ += memo_[key] == Pickle::kNone;
    memo_[key] = top();
  }
  void recall(std::uint64_t key) {
    if (key >= memo_.size() || memo_[key] == Pickle::kNone)
      unsound("a pickle refers to a memo entry that it does not have");
    stack_.push_back(memo_[key]);
  }
  void push_global(Index module, Index name) {
    if (node(module).kind != Kind::String || node(name).kind != Kind::String ||
        std::uint64_t{node(module).b} + node(name).b > kLongestName)
      unsound("the name of a class is not a string");
    const Index global = push(Kind::Global);
    node(global).a = module;
    node(global).b = name;
  }

  void step(unsigned char opcode);

  static constexpr const char* kNoList = "a pickle appends to a value that is not a list";
  static constexpr const char* kNoDict = "a pickle sets items of a value that is not a dict";

  std::string_view bytes_;
  std::size_t& at_;
  Pickle result_;
  std::deque<Index> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Index> memo_;
  std::uint64_t remembered_ = 0;
  std::array<Index, kSharedCount> shared_;
  std::array<Index, 256> small_;
};

void PickleMachine::step(unsigned char opcode) {
  switch (opcode) {
    case 0x80:  // PROTO
      if (const unsigned version = u8(); version > 5) unsound("a pickle of protocol ", version);
      return;
    case 0x95:
      take(8);
      return;  // FRAME
    // Numbers and strings
    case 'N':
      push_shared(kNull, Kind::None);
      return;
    case 0x88:
      push_shared(kTrue, Kind::Bool);
      return;
    case 0x89:
      push_shared(kFalse, Kind::Bool);
      return;
    case 'K':
      push_small(u8());
      return;
    case 'M':
      push_integer(static_cast<std::int64_t>(little(2)));
      return;
    case 'J':
      push_integer(static_cast<std::int32_t>(little(4)));
      return;
    case 0x8a: {  // LONG1: two's complement
      const unsigned n = u8();
      if (n > 8) {  // a hash or a generator's seed becomes a string, because ebb has no larger integers
        push_text(take(n));
        return;
      }
      const std::uint64_t value = little(n);
      push_integer(n == 0 || n == 8 ? static_cast<std::int64_t>(value)
                                    : static_cast<std::int64_t>(value << (64 - 8 * n)) >> (64 - 8 * n));
      return;
    }
    case 'G': {  // big-endian
      std::uint64_t bits = 0;
      for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
      set_wide(push(Kind::Double), bits);
      return;
    }
    case 'X':
    case 'B':
    case 'T':
      push_text(take(little(4)));
      return;
    case 0x8c:
    case 'C':
    case 'U':
      push_text(take(little(1)));
      return;
    case 0x8d:
    case 0x8e:
    case 0x96:
      push_text(take(little(8)));
      return;
    // Containers
    case '}':
      push(Kind::Dict);
      return;
    case ']':
      push(Kind::List);
      return;
    case 0x8f:
      push(Kind::List);
      return;  // a set
    case ')':
      push_tuple({});
      return;
    case '(':
      if (marks_.size() >= kMaxMarks) too_deep();
      marks_.push_back(stack_.size());
      return;
    case 't':
      push_tuple(pop_to_mark());
      return;
    case 0x85:
      push_tuple_of(1);
      return;
    case 0x86:
      push_tuple_of(2);
      return;
    case 0x87:
      push_tuple_of(3);
      return;
    case 'l':
    case 0x91:  // FROZENSET
      push_marked(Kind::List);
      return;
    case 'd':
      push_marked(Kind::Dict);
      return;
    case 'a': {
      const Index item = pop();
      extend(top(), Kind::List, kNoList, [&](Chain chain) {
        link(chain, item);
        return chain;
      });
      return;
    }
    case 'e':
    case 0x90:
      extend_marked(Kind::List, kNoList);
      return;
    case 's': {
      const Index value = pop(), key = pop();
      extend(top(), Kind::Dict, kNoDict, [&](Chain chain) {
        link(chain, key);
        link(chain, value);
        return chain;
      });
      return;
    }
    case 'u':
      extend_marked(Kind::Dict, kNoDict);
      return;
    // The stack and the memo
    case '0':
      pop();
      return;
    case '1':
      pop_mark();
      return;
    case '2':
      stack_.push_back(top());
      return;
    case 'q':
      memoize(little(1));
      return;
    case 'r':
      memoize(little(4));
      return;
    case 0x94:
      memoize(remembered_);
      return;
    case 'h':
      recall(little(1));
      return;
    case 'j':
      recall(little(4));
      return;
    // Classes and objects
    case 'c': {
      const Index module = text_node(line());
      push_global(module, text_node(line()));
      return;
    }
    case 0x93: {  // STACK_GLOBAL
      const Index name = pop(), module = pop();
      push_global(module, name);
      return;
    }
    case 'R':
    case 0x81: {
      const Index arguments = pop(), function = pop(), call = push(Kind::Call);
      node(call).a = function;
      node(call).b = arguments;
      raise(node(call).levels, arguments);
      return;
    }
    case 'b':
      build();
      return;
    case 'Q': {
      const Index id = pop();
      node(push(Kind::Reference)).a = id;
      return;
    }
    default:
      ebb::detail::fail("pickle: opcode ", int{opcode}, " at byte ", std::uint64_t{at_ - 1},
                        " is not one that tensors and plain values need. Write the file again with "
                        "torch.save(model.state_dict(), path).");
  }
}

Pickle parse_pickle(std::string_view bytes, std::size_t& position) {
  if (position > bytes.size()) unsound("a pickle is cut short");
  return PickleMachine(bytes, position).run();
}

}  // namespace ebb::io
