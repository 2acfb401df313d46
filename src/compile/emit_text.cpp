// Arguments as C++: structs by their types and members, numbers so that they are read back as they were.
#include "compile/emit_text.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "kernel/carrier.h"
#include "ops/elementwise/kernels.h"

namespace ebb::compiling {
namespace {

// As a source within namespace ebb writes it.
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
            " is not to be had in a program that is linked with a static ebb. Link the shared library.");
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
                           ", which a source cannot say. Emit a function that does without it."));
}

// What is written to is an lvalue; arrays have a name.
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
  else if (type == typeid(std::uint8_t))  // whose name is two words
    text = "std::uint8_t{" + std::to_string(value_at<std::uint8_t>(value)) + "}";
  else
    text = name + "{" + number_text(integer_at(value, bytes, false)) + "}";
  const bool bare = levels_.empty() && written;  // a reference to exactly that type
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
  if (*level.type == typeid(ops::KeptOperand)) {  // whether it is a number, and where from
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

}  // namespace ebb::compiling
