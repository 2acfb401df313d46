// x.index({...}) and x.index_put_({...}, value) with all kinds of indices.
#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>
#include <ebb/ops/index/indexing.h>

#include "random_programs/kinds.h"

#include <sstream>

namespace programs {
namespace {

namespace indexing = ebb::indexing;

/// The numbers of a statement: for each index its kind and its operands.
enum Item : std::int64_t {
  kNone,
  kEllipsis,
  kInteger,  ///< the integer
  kSlice,    ///< start, stop and step
  kPlaces,   ///< the count and the elements of an integer tensor
  kMask      ///< the count and the elements of a bool tensor; a compiled function stays eager
};

struct Index {
  Item item;
  std::vector<std::int64_t> numbers;
};

// The number of operands that follow the kind of an index.
std::size_t length_of(Item item, const std::int64_t* numbers) {
  switch (item) {
    case kInteger:
      return 1;
    case kSlice:
      return 3;
    case kPlaces:
    case kMask:
      return 1 + static_cast<std::size_t>(numbers[0]);
    default:
      return 0;
  }
}

std::vector<Index> indices_of(const Statement& s) {
  std::vector<Index> all;
  for (std::size_t i = 1; i < s.numbers.size();) {
    const auto item = static_cast<Item>(s.numbers[i++]);
    const std::size_t count = length_of(item, s.numbers.data() + i);
    const auto first = s.numbers.begin() + static_cast<std::ptrdiff_t>(i);
    all.push_back({item, {first, first + static_cast<std::ptrdiff_t>(count)}});
    i += count;
  }
  return all;
}

Variable tensor_of(const Index& index, ebb::DType dtype) {
  const std::vector<std::int64_t> values(index.numbers.begin() + 1, index.numbers.end());
  return ebb::tensor(values, ebb::kLong).to(dtype).to(home());
}

indexing::TensorIndex to_index(const Index& index) {
  switch (index.item) {
    case kNone:
      return indexing::None;
    case kEllipsis:
      return indexing::Ellipsis;
    case kInteger:
      return index.numbers[0];
    case kSlice:
      return indexing::Slice(index.numbers[0], index.numbers[1], index.numbers[2]);
    case kPlaces:
      return tensor_of(index, ebb::kLong);
    case kMask:
      return tensor_of(index, ebb::kBool);
  }
  return indexing::None;
}

std::vector<indexing::TensorIndex> brackets(const Statement& s) {
  std::vector<indexing::TensorIndex> all;
  for (const Index& each : indices_of(s)) all.push_back(to_index(each));
  return all;
}

void append_index_of(Draw& draw, std::int64_t size, std::int64_t places, Statement& s) {
  const auto append = [&](std::initializer_list<std::int64_t> numbers) {
    s.numbers.insert(s.numbers.end(), numbers);
  };
  const std::int64_t choice = draw.below(8);
  if (choice < 2 && size > 0) return append({kInteger, draw.between(-size, size - 1)});
  if (choice < 4 && size > 0) {
    append({kPlaces, places});
    for (std::int64_t i = 0; i < places; ++i) append({draw.between(-size, size - 1)});
    return;
  }
  if (choice == 4 && draw.once_in(3)) {
    s.name = "mask";
    append({kMask, size});
    for (std::int64_t i = 0; i < size; ++i) append({draw.below(2)});
    return;
  }
  const std::int64_t start = draw.between(0, std::max<std::int64_t>(size - 1, 0));
  append({kSlice, start, draw.between(start, size), draw.between(1, 2)});
}

bool draw_index(Draw& draw, const State& state, Statement& s) {
  const auto slot =
      pick(draw, state, [](const Slot& each) { return each.is_tensor() && each.tensor.dim() > 0; });
  if (!slot) return false;
  s.in = {*slot};
  s.numbers = {draw.between(-16, 16)};  // the value to write, in units of 1/8
  const Variable& x = state.tensor(*slot);
  const std::int64_t places = draw.between(1, 3), used = draw.between(1, x.dim());
  const bool from_end = used < x.dim() && draw.once_in(3);
  if (from_end) s.numbers.push_back(kEllipsis);
  for (std::int64_t i = 0; i < used; ++i) {
    if (draw.once_in(6)) s.numbers.push_back(kNone);
    append_index_of(draw, x.size(from_end ? x.dim() - used + i : i), places, s);
  }
  return true;
}

std::string brackets_text(const Statement& s, Language l) {
  const bool cpp = l == Language::cpp;
  std::ostringstream text;
  const char* separator = "";
  for (const Index& each : indices_of(s)) {
    text << separator;
    separator = ", ";
    const std::vector<std::int64_t>& n = each.numbers;
    switch (each.item) {
      case kNone:
        text << "None";
        break;
      case kEllipsis:
        text << (cpp ? "\"...\"" : "...");
        break;
      case kInteger:
        text << n[0];
        break;
      case kSlice:
        if (cpp)
          text << "Slice(" << n[0] << ", " << n[1] << ", " << n[2] << ")";
        else
          text << n[0] << ":" << n[1] << ":" << n[2];
        break;
      case kPlaces:
      case kMask:
        text << (cpp ? "tensor(" : "torch.tensor(") << list_text({n.begin() + 1, n.end()}, l)
             << (cpp ? ", " : ", dtype=") << dtype_text(each.item == kMask ? ebb::kBool : ebb::kLong, l)
             << ")";
        break;
    }
  }
  return text.str();
}

std::string read_text(const Statement& s, Language l) {
  const std::string out = slot_text(s.out[0]), x = slot_text(s.in[0]), in = brackets_text(s, l);
  if (l == Language::cpp) return "Tensor " + out + " = " + x + ".index({" + in + "});";
  return out + " = " + x + "[" + in + ",]";
}
std::string put_text(const Statement& s, Language l) {
  const std::string x = slot_text(s.in[0]), in = brackets_text(s, l);
  const std::string value = s.in.size() > 1 ? slot_text(s.in[1]) : std::to_string(s.numbers[0]) + "/8.0";
  if (l == Language::cpp) return x + ".index_put_({" + in + "}, " + value + ");";
  return x + "[" + in + ",] = " + value;
}

const bool added_read = add_kind({"index", 8, kSetup | kBody,
                                  [](Draw& draw, const State& state, Statement& s) {
                                    s.out = {0};
                                    return draw_index(draw, state, s);
                                  },
                                  [](State& state, const Statement& s) {
                                    state[s.out[0]] =
                                        Slot{.tensor = state.tensor(s.in[0]).index(brackets(s))};
                                  },
                                  read_text, true});

// in: the tensor, and optionally a value of one element.
const bool added_put =
    add_kind({"index_put_", 6, kBody | kBetween,
              [](Draw& draw, const State& state, Statement& s) {
                if (!draw_index(draw, state, s)) return false;
                const Variable& x = state.tensor(s.in[0]);
                if (x.is_leaf() && x.requires_grad()) s.modes |= kNoGrad;
                const auto value = pick(draw, state, [&](const Slot& each) {
                  return each.is_tensor() && each.tensor.numel() == 1 && each.tensor.dtype() == x.dtype();
                });
                if (value && draw.once_in(2)) s.in.push_back(*value);
                return true;
              },
              [](State& state, const Statement& s) {
                const Variable& x = state.tensor(s.in[0]);
                if (s.in.size() > 1)
                  x.index_put_(brackets(s), state.tensor(s.in[1]));
                else
                  x.index_put_(brackets(s), static_cast<double>(s.numbers[0]) / 8);
              },
              put_text});

}  // namespace
}  // namespace programs
