// SourceParts and ArgumentText: write the arrays, calls and arguments of a tape as lines of C++.

#include <ebb/core/visit.h>

#include "compile/emit.h"
#include "compile/fuse.h"
#include "kernel/carrier.h"
#include "ops/elementwise/kernels.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

namespace ebb::detail::compile {
namespace {

bool fits_in_source(const Buffer& constant) { return constant.bytes <= 64; }

std::string constant_text(const std::vector<std::byte>& numbers) {
  std::string words;
  for (std::size_t at = 0; at < numbers.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, &numbers[at], std::min<std::size_t>(8, numbers.size() - at));
    words += detail::text(at ? ", " : "", word, "U");
  }
  return "constant(" + std::to_string(numbers.size()) + ", {" + words + "})";
}

// Returns a comment with the elements of an array.
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

// Returns the sizes, sorted by descending stride. For a transposed matrix these are the sizes of the original
// matrix.
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
  const AccessIndex accesses(tape);
  for (std::size_t i = 0; i < tape.buffers.size(); ++i) {
    const std::vector<int>& calls = accesses.calls(static_cast<int>(i));
    Buffer& copy = plan_.buffers.emplace_back();
    copy.kind = tape.buffers[i].kind == Buffer::Kind::elided ? Buffer::Kind::temporary : tape.buffers[i].kind;
    copy.placeholder = tape.buffers[i].placeholder;
    copy.bytes = tape.buffers[i].bytes;
    copy.first = calls.empty() ? -1 : calls.front();
    copy.last = calls.empty() ? -1 : calls.back();
  }
  // Copies the pairs of buffers that may share an address. plan_memory() ignores a pair if the first buffer's
  // live range does not end where the second one's begins.
  for (const InPlaceReuse& each : tape.reuses)
    plan_.reuses.push_back({each.from, each.to, accesses.calls(each.to).front()});
  plan_memory(plan_);
}

SourceParts::SourceParts(const Tape& tape) : tape_(tape), arena_(tape) {
  for (std::size_t i = 0; i < tape.buffers.size(); ++i) buffers_[tape.buffers[i].placeholder.get()] = i;
  const std::function<std::string(const NdArray&)> name = [this](const NdArray& x) { return name_of(x); };
  for (const TapeCall& call : tape.calls) {
    const std::string slot = slot_text(*call.call->slot());
    ArgumentText text(call.call->name(), name);
    call.call->visit(text);
    calls_ += "    " + slot + "(kCPU" + text.arguments() + ");\n";
  }
  for (const auto& [tensor, input, earlier, found, inference] : tape.outputs)
    results_ += (results_.empty() ? "" : ", ") +
                (tensor.buffer < 0 ? std::string("Variable()") : "given(" + name_of(tensor.array) + ")");
}

std::string SourceParts::arrays() const {
  std::string text;
  for (const std::string& each : arrays_) text += each;
  return text;
}

std::string SourceParts::name_of(const NdArray& array) {
  const std::size_t at = buffers_.at(array.storage().get());
  const std::string layout = detail::text(", ", list_text(array.sizes()), ", ", list_text(array.strides()),
                                          ", ", array.offset(), ", k", array.dtype(), "};");
  std::string& name = by_layout_[std::to_string(at) + layout];
  if (!name.empty()) return name;
  Named& buffer = named_[at];
  const Buffer& found = tape_.buffers[at];
  const auto kind = static_cast<std::size_t>(found.kind);
  if (buffer.name.empty()) {
    const char letter = "xwcttyk"[kind];
    name = letter + std::to_string(found.kind == Buffer::Kind::input ? found.input : count_[letter]++);
    buffer.name = name;
    arrays_[kind] += "  NdArray " + name + "{" + memory(at, name, array) + layout;
    if (found.kind == Buffer::Kind::constant && fits_in_source(found) && array.is_contiguous())
      arrays_[kind] += values_text(array, found.contents);
  } else {
    name = buffer.name + "_" + std::to_string(++buffer.others);
    arrays_[kind] += "  NdArray " + name + "{" + buffer.name + ".storage()" + layout;
  }
  arrays_[kind] += '\n';
  return name;
}

std::string SourceParts::memory(std::size_t at, const std::string& name, const NdArray& array) {
  const Buffer& buffer = tape_.buffers[at];
  const std::string bytes = std::to_string(buffer.bytes);
  std::string text = "weight(\"" + name + "\", " + bytes + ")";
  switch (buffer.kind) {
    case Buffer::Kind::input:
      return "argument(" + std::to_string(buffer.input) + ", " + bytes + ")";
    case Buffer::Kind::captured:
      keep(name, array, buffer.found->storage->data(), buffer.bytes);
      return text;
    case Buffer::Kind::constant:
      if (fits_in_source(buffer))
        text = constant_text(buffer.contents);
      else
        keep(name, array, buffer.contents.data(), buffer.bytes);
      return buffer.written ? "refilled(" + text + ")" : text;
    case Buffer::Kind::temporary:
    case Buffer::Kind::elided:
      return "arena(" + std::to_string(arena_.offset(at)) + ", " + bytes + ")";
    default:
      return "result(" + bytes + ")";
  }
}

// Saves all bytes of a buffer. They are saved in the shape of the array if it covers the buffer, and
// otherwise as a vector.
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

namespace {

// Returns the demangled name within namespace ebb, without the prefix ebb::.
std::string demangled(const char* mangled) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  int status = 0;
  const std::unique_ptr<char, Free> whole(abi::__cxa_demangle(mangled, nullptr, nullptr, &status));
  std::string text = status == 0 ? whole.get() : mangled;
  constexpr std::string_view own = "ebb::";
  for (std::size_t at = 0; (at = text.find(own, at)) != text.npos;) {
    const bool first = at == 0 || !(std::isalnum(static_cast<unsigned char>(text[at - 1])) ||
                                    text[at - 1] == '_' || text[at - 1] == ':');
    if (first)
      text.erase(at, own.size());
    else
      at += own.size();
  }
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "std::numeric_limits<double>::quiet_NaN()";
  if (std::isinf(value)) return std::string(value < 0 ? "-" : "") + "std::numeric_limits<double>::infinity()";
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

template <class T>
T value_at(const void* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

std::int64_t integer_at(const void* bytes, std::size_t count, bool is_signed) {
  std::int64_t value = 0;
  std::memcpy(&value, bytes, count);
  const auto above = static_cast<int>(64 - 8 * count);
  if (!is_signed || above == 0) return value;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << above) >> above;
}

}  // namespace

std::string slot_text(const detail::AnySlot& slot) {
  Dl_info found{};
  const bool named = dladdr(&slot, &found) != 0 && found.dli_sname && found.dli_saddr == &slot;
  EBB_CHECK(named, "Compiled::emit: the name of the kernel slot of ", slot.name(),
            " is not available in a program that is linked with a static ebb. Link the shared library.");
  return demangled(found.dli_sname);
}

std::string type_text(const std::type_info& type) { return demangled(type.name()); }

std::string number_text(double value) { return shortest(value); }

std::string number_text(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return "std::numeric_limits<std::int64_t>::min()";
  return std::to_string(value);
}

void ArgumentText::refuse(const char* what) const {
  throw Error(detail::text("Compiled::emit: ", call_, " ", what,
                           ", which an emitted source cannot express. Emit a function without this call."));
}

// A kernel takes its outputs as lvalues. Only arrays with a name are lvalues already, so other outputs are
// wrapped in lvalue().
void ArgumentText::add(std::string text, bool has_name, bool to_write) {
  if (!levels_.empty())
    levels_.back().parts.push_back(std::move(text));
  else
    arguments_.push_back(to_write && !has_name ? "lvalue(" + text + ")" : std::move(text));
}

void ArgumentText::array(NdArray& array) { add(array.defined() ? name_of_(array) : "none", true, written); }

void ArgumentText::address(void*& at) {
  if (at) refuse("takes addresses of many tensors");
  add("nullptr", false, false);
}

void ArgumentText::words(Philox&) { refuse("draws random numbers"); }

void ArgumentText::plain(const void*, std::size_t) {}

void ArgumentText::number(const void* value, std::size_t bytes, const std::type_info& type) {
  const std::string name = demangled(type.name());
  std::string text;
  if (type == typeid(Generator))
    refuse("draws random numbers");
  else if (type == typeid(Device))
    text = "kCPU";
  else if (type == typeid(DType))
    text = detail::text("k", value_at<DType>(value));
  else if (type == typeid(bool))
    text = value_at<bool>(value) ? "true" : "false";
  else if (type == typeid(double))
    text = shortest(value_at<double>(value));
  else if (type == typeid(float))
    text = shortest(value_at<float>(value)) + (std::isfinite(value_at<float>(value)) ? "F" : "");
  else if (type == typeid(std::uint64_t))
    text = std::to_string(value_at<std::uint64_t>(value)) + "U";
  else if (type == typeid(std::int64_t) || type == typeid(std::int32_t))
    text = number_text(integer_at(value, bytes, true));
  else if (type == typeid(std::uint8_t))  // the demangled name, unsigned char, cannot precede a brace
    text = "std::uint8_t{" + std::to_string(value_at<std::uint8_t>(value)) + "}";
  else
    text = name + "{" + number_text(integer_at(value, bytes, false)) + "}";
  const bool bare = levels_.empty() && written;  // the parameter is a reference to the argument's exact type
  add(bare ? name + "{" + text + "}" : text, false, written);
}

void ArgumentText::scalar(const Scalar& value) {
  const std::string text = value.is_boolean()          ? (value.to<bool>() ? "true" : "false")
                           : value.is_floating_point() ? number_text(value.to<double>())
                                                       : number_text(value.to<std::int64_t>());
  add("Scalar(" + text + ")", false, written);
}

void ArgumentText::text(const char* value) {
  std::string text = "\"";
  for (const char* c = value; *c; ++c) {
    if (*c == '"' || *c == '\\') text += '\\';
    text += *c;
  }
  add(text + "\"", false, written);
}

void ArgumentText::open(Group group, const std::type_info& type) {
  levels_.push_back({group, &type, written, {}});
}

void ArgumentText::close() {
  Level level = std::move(levels_.back());
  levels_.pop_back();
  std::vector<std::string>& parts = level.parts;
  if (*level.type == typeid(ops::KeptOperand)) {  // its parts: a flag, then the scalar or the array
    const bool reads = parts[0] == "true" && !parts[1].starts_with("Scalar(");
    return add(reads ? "read(" + parts[1] + ")" : parts[1], false, false);
  }
  if (*level.type == typeid(ops::Number)) return add("number(" + joined(parts) + ")", false, false);
  std::string text;
  switch (level.group) {
    case Group::optional:
      text = parts.empty() ? "std::nullopt" : parts[0];
      break;
    case Group::list:
      text = "{" + joined(parts) + "}";
      break;
    case Group::derived:
      if (!parts.empty()) parts.insert(parts.begin(), "{}");
      [[fallthrough]];
    case Group::record:
      text = demangled(level.type->name()) + "{" + joined(parts) + "}";
      break;
  }
  add(std::move(text), false, level.written);
}

std::string ArgumentText::arguments() const {
  std::string text;
  for (const std::string& each : arguments_) text += ", " + each;
  return text;
}

}  // namespace ebb::detail::compile
