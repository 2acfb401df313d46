// The pickle machine: a stack, marks and a memo (Python's pickletools describes the opcodes).
#include "io/pickle.h"

#include <ebb/core/error.h>

#include <bit>
#include <cstring>
#include <unordered_map>

namespace ebb::io {
namespace {

using Kind = Pickle::Kind;
constexpr std::size_t kMaxNodes = 10'000'000;

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  ebb::detail::fail("pickle: the file is not sound: ", parts..., ". Fetch or write it again.");
}

class Machine {
 public:
  Machine(std::string_view bytes, std::size_t position) : bytes_(bytes), at_(position) {}

  Pickle run() {
    while (true) {
      const unsigned char opcode = u8();
      if (opcode == '.') break;
      step(opcode);
    }
    result_.root = pop();
    return std::move(result_);
  }
  std::size_t position() const { return at_; }

 private:
  using Index = std::uint32_t;

  // Bytes.
  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size() - at_) unsound("a pickle is cut short");
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
  std::string line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) unsound("a pickle is cut short");
    const std::string text(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return text;
  }

  // The stack.
  Index make(Kind kind) {
    if (result_.nodes.size() >= kMaxNodes) unsound("a pickle of more than ten million values");
    result_.nodes.emplace_back().kind = kind;
    return static_cast<Index>(result_.nodes.size() - 1);
  }
  Pickle::Node& node(Index i) { return result_.nodes[i]; }
  Index push(Kind kind) {
    stack_.push_back(make(kind));
    return stack_.back();
  }
  void push_text(std::string_view text) {
    const Index i = push(Kind::String);
    node(i).text = text;
  }
  void push_integer(std::int64_t value, Kind kind = Kind::Int) { node(push(kind)).integer = value; }
  Index pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) unsound("a pickle takes more than it has");
    const Index top = stack_.back();
    stack_.pop_back();
    return top;
  }
  Index top() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) unsound("a pickle takes more than it has");
    return stack_.back();
  }
  std::vector<Index> pop_to_mark() {
    if (marks_.empty()) unsound("a pickle lacks a mark");
    std::vector<Index> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  void push_tuple(std::vector<Index> items) { node(push(Kind::Tuple)).items = std::move(items); }
  void push_tuple_of(unsigned n) {
    std::vector<Index> items(n);
    while (n-- > 0) items[n] = pop();
    push_tuple(std::move(items));
  }
  void push_call(Index function, Index arguments) {
    const Index call = push(Kind::Call);
    node(call).items = {function, arguments};
  }
  void append(const std::vector<Index>& items) {
    Pickle::Node& to = node(top());
    // A list, or an object that behaves like one (a set, a deque).
    if (to.kind != Kind::List && to.kind != Kind::Call) unsound("a pickle appends to what is no list");
    auto& where = to.kind == Kind::List ? to.items : to.contents;
    where.insert(where.end(), items.begin(), items.end());
  }
  void set(const std::vector<Index>& items) {
    Pickle::Node& to = node(top());
    if ((to.kind != Kind::Dict && to.kind != Kind::Call) || items.size() % 2)
      unsound("a pickle sets items of what is no dict");
    auto& where = to.kind == Kind::Dict ? to.items : to.contents;
    where.insert(where.end(), items.begin(), items.end());
  }
  void build() {  // state of an object: a dict of attributes, or a pair of two
    const Index state = pop();
    Pickle::Node& to = node(top());
    if (to.kind != Kind::Call) return;  // attributes of plain containers say nothing about data
    const Pickle::Node& from = result_.at(state);
    if (from.kind == Kind::Dict)
      to.attributes.insert(to.attributes.end(), from.items.begin(), from.items.end());
  }
  void memoize(std::uint64_t key) { memo_[key] = top(); }
  void recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) unsound("a pickle refers to what it did not hold");
    stack_.push_back(found->second);
  }
  void push_global(const std::string& module, const std::string& name) {
    node(push(Kind::Global)).text = module + "." + name;
  }

  void step(unsigned char opcode);

  std::string_view bytes_;
  std::size_t at_;
  Pickle result_;
  std::vector<Index> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Index> memo_;
};

void Machine::step(unsigned char opcode) {
  switch (opcode) {
    case 0x80:  // PROTO
      if (const unsigned version = u8(); version > 5) unsound("a pickle of protocol ", version);
      return;
    case 0x95:
      take(8);
      return;  // FRAME
    // Numbers and words
    case 'N':
      push(Kind::None);
      return;
    case 0x88:
      push_integer(1, Kind::Bool);
      return;
    case 0x89:
      push_integer(0, Kind::Bool);
      return;
    case 'K':
      push_integer(static_cast<std::int64_t>(little(1)));
      return;
    case 'M':
      push_integer(static_cast<std::int64_t>(little(2)));
      return;
    case 'J':
      push_integer(static_cast<std::int32_t>(little(4)));
      return;
    case 0x8a: {  // LONG1: two's complement
      const unsigned n = u8();
      if (n > 8) {  // a hash or a seed of a generator; ebb has no larger integers
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
      node(push(Kind::Double)).number = std::bit_cast<double>(bits);
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
      push(Kind::Tuple);
      return;
    case '(':
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
    case 'l': {
      const auto items = pop_to_mark();
      push(Kind::List);
      append(items);
      return;
    }
    case 'd': {
      const auto items = pop_to_mark();
      push(Kind::Dict);
      set(items);
      return;
    }
    case 0x91: {
      const auto items = pop_to_mark();
      push(Kind::List);
      append(items);
      return;
    }  // FROZENSET
    case 'a': {
      const Index item = pop();
      append({item});
      return;
    }
    case 'e':
    case 0x90:
      append(pop_to_mark());
      return;
    case 's': {
      const Index value = pop(), key = pop();
      set({key, value});
      return;
    }
    case 'u':
      set(pop_to_mark());
      return;
    // The stack and the memo
    case '0':
      pop();
      return;
    case '1':
      pop_to_mark();
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
      memoize(memo_.size());
      return;
    case 'h':
      recall(little(1));
      return;
    case 'j':
      recall(little(4));
      return;
    // Classes, and what is made of them
    case 'c': {
      const std::string module = line();
      push_global(module, line());
      return;
    }
    case 0x93: {  // STACK_GLOBAL
      const Index name = pop(), module = pop();
      push_global(result_.at(module).text, std::string(result_.at(name).text));
      return;
    }
    case 'R':
    case 0x81: {
      const Index arguments = pop(), function = pop();
      push_call(function, arguments);
      return;
    }
    case 'b':
      build();
      return;
    case 'Q': {
      const Index id = pop();
      node(push(Kind::Reference)).items = {id};
      return;
    }
    default:
      ebb::detail::fail("pickle: opcode ", int{opcode}, " at byte ", std::uint64_t{at_ - 1},
                        " is none that tensors and plain values need. Write the file again by "
                        "torch.save(model.state_dict(), path).");
  }
}

}  // namespace

Pickle parse_pickle(std::string_view bytes, std::size_t& position) {
  if (position > bytes.size()) unsound("a pickle is cut short");
  Machine machine(bytes, position);
  Pickle result = machine.run();
  position = machine.position();
  return result;
}

}  // namespace ebb::io
