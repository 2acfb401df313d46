// Arrays and calls of a tape as lines of C++.
#include "compile/emit_source.h"

#include <ebb/core/visit.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "compile/emit_text.h"
#include "compile/touches.h"

namespace ebb::compiling {
namespace {

bool stands_in_source(const Place& constant) { return constant.bytes <= 64; }

std::string constant_text(const std::vector<std::byte>& numbers) {
  std::string words;
  for (std::size_t at = 0; at < numbers.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, &numbers[at], std::min<std::size_t>(8, numbers.size() - at));
    words += detail::text(at ? ", " : "", word, "U");
  }
  return "constant(" + std::to_string(numbers.size()) + ", {" + words + "})";
}

// The numbers of an array, for a reader.
std::string values_text(const NdArray& array, const std::vector<std::byte>& numbers) {
  std::string text;
  visit_all(array.dtype(), "Compiled::emit", [&]<class T> {
    const auto first = static_cast<std::size_t>(array.offset()) * sizeof(T);
    for (std::int64_t i = 0; i < array.numel(); ++i) {
      T value;
      std::memcpy(&value, &numbers[first + static_cast<std::size_t>(i) * sizeof(T)], sizeof(T));
      text += detail::text(i ? ", " : "  // ", Scalar(value));
    }
  });
  return text;
}

// A transposed matrix is the matrix.
DimVector sizes_in_memory(const NdArray& array) {
  std::vector<std::size_t> order(array.sizes().size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return array.strides()[a] > array.strides()[b]; });
  DimVector sizes;
  for (const std::size_t d : order) sizes.push_back(array.sizes()[d]);
  return sizes;
}

}  // namespace

std::string list_text(IntArrayRef list) {
  std::string text;
  for (const std::int64_t each : list) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "{" + text + "}";
}

ArenaPlan::ArenaPlan(const Tape& tape) {
  const Touches touches(tape);
  for (std::size_t i = 0; i < tape.places.size(); ++i) {
    const std::vector<int>& calls = touches.calls(static_cast<int>(i));
    Place& copy = plan_.places.emplace_back();
    copy.kind = tape.places[i].kind == Place::Kind::passing ? Place::Kind::inner : tape.places[i].kind;
    copy.stand_in = tape.places[i].stand_in;
    copy.bytes = tape.places[i].bytes;
    copy.first = calls.empty() ? -1 : calls.front();
    copy.last = calls.empty() ? -1 : calls.back();
  }
  // Of those only the ones count whose first place ends in the call where the second begins.
  for (const TapeSuccession& each : tape.successions)
    plan_.successions.push_back({each.from, each.to, touches.calls(each.to).front()});
  plan_memory(plan_);
}

SourceParts::SourceParts(const Tape& tape) : tape_(tape), arena_(tape) {
  for (std::size_t i = 0; i < tape.places.size(); ++i) places_[tape.places[i].stand_in.get()] = i;
  const std::function<std::string(const NdArray&)> name = [this](const NdArray& x) { return name_of(x); };
  for (const TapeCall& call : tape.calls) {
    const std::string slot = slot_text(*call.call->slot());
    ArgumentText text(call.call->name(), name);
    call.call->visit(text);
    calls_ += "    " + slot + "(kCPU" + text.arguments() + ");\n";
  }
  for (const auto& [seen, input, earlier, found, inference] : tape.outputs)
    results_ += (results_.empty() ? "" : ", ") +
                (seen.place < 0 ? std::string("Variable()") : "given(" + name_of(seen.array) + ")");
}

std::string SourceParts::arrays() const {
  std::string text;
  for (const std::string& each : arrays_) text += each;
  return text;
}

std::string SourceParts::name_of(const NdArray& array) {
  const std::size_t at = places_.at(array.storage().get());
  const std::string layout = detail::text(", ", list_text(array.sizes()), ", ", list_text(array.strides()),
                                          ", ", array.offset(), ", k", array.dtype(), "};");
  std::string& name = by_layout_[std::to_string(at) + layout];
  if (!name.empty()) return name;
  Named& place = named_[at];
  const Place& found = tape_.places[at];
  const auto kind = static_cast<std::size_t>(found.kind);
  if (place.name.empty()) {
    const char letter = "xwctty"[kind];
    name = letter + std::to_string(found.kind == Place::Kind::input ? found.input : count_[letter]++);
    place.name = name;
    arrays_[kind] += "  NdArray " + name + "{" + memory(at, name, array) + layout;
    if (found.kind == Place::Kind::constant && stands_in_source(found) && array.is_contiguous())
      arrays_[kind] += values_text(array, found.numbers);
  } else {
    name = place.name + "_" + std::to_string(++place.others);
    arrays_[kind] += "  NdArray " + name + "{" + place.name + ".storage()" + layout;
  }
  arrays_[kind] += '\n';
  return name;
}

std::string SourceParts::memory(std::size_t at, const std::string& name, const NdArray& array) {
  const Place& place = tape_.places[at];
  const std::string bytes = std::to_string(place.bytes);
  std::string text = "weight(\"" + name + "\", " + bytes + ")";
  switch (place.kind) {
    case Place::Kind::input:
      return "argument(" + std::to_string(place.input) + ", " + bytes + ")";
    case Place::Kind::outside:
      keep(name, array, place.found->storage->data(), place.bytes);
      return text;
    case Place::Kind::constant:
      if (stands_in_source(place))
        text = constant_text(place.numbers);
      else
        keep(name, array, place.numbers.data(), place.bytes);
      return place.written ? "refilled(" + text + ")" : text;
    case Place::Kind::inner:
    case Place::Kind::passing:
      return "arena(" + std::to_string(arena_.at(at)) + ", " + bytes + ")";
    default:
      return "result(" + bytes + ")";
  }
}

// All bytes of a place, in the array's shape as it lies in memory where it covers them.
void SourceParts::keep(const std::string& name, const NdArray& array, const void* data, std::size_t bytes) {
  const auto size = static_cast<std::size_t>(element_size(array.dtype()));
  const bool even = bytes % size == 0;
  const DimVector sizes = sizes_in_memory(array);
  const bool whole =
      array.offset() == 0 && array.is_dense() && static_cast<std::size_t>(array.numel()) * size == bytes;
  const auto count = static_cast<std::int64_t>(even ? bytes / size : bytes);
  NdArray copy =
      NdArray::empty(whole ? IntArrayRef(sizes) : IntArrayRef(count), even ? array.dtype() : kByte);
  copy_bytes(copy.data(), kCPU, data, kCPU, bytes);
  weights_.emplace_back(name, Variable(std::move(copy)));
}

}  // namespace ebb::compiling
