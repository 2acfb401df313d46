// Error classes. Every misuse of ebb throws ebb::Error; ebb never aborts and never prints errors.
#pragma once

#include <ebb/core/api.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ebb {

/// The exception of every failed check. The message names the op, the offending shapes, dtypes or devices,
/// and the way to correct the call.
class EBB_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  /// Ignores the backtrace; the argument only makes programs written for c10::Error compile.
  Error(const std::string& message, const std::string&, const void* = nullptr) : Error(message) {}
  ~Error() override;
  const char* what_without_backtrace() const noexcept { return what(); }
  std::string msg() const { return what(); }
  std::string backtrace() const { return {}; }
};

/// An index or dimension out of range (torch: c10::IndexError).
class EBB_API IndexError : public Error {
 public:
  using Error::Error;
  ~IndexError() override;
};

/// A valid request that ebb does not offer (torch: c10::NotImplementedError).
class EBB_API NotImplementedError : public Error {
 public:
  using Error::Error;
  ~NotImplementedError() override;
};

namespace detail {

// Appends one message part. Types of ebb add overloads of append_text, found by argument-dependent lookup.
inline void append_text(std::string& out, std::string_view text) { out += text; }
inline void append_text(std::string& out, const char* text) { out += text; }
inline void append_text(std::string& out, const std::string& text) { out += text; }
inline void append_text(std::string& out, char c) { out += c; }
inline void append_text(std::string& out, bool value) { out += value ? "true" : "false"; }
EBB_API void append_text(std::string& out, double value);
EBB_API void append_text(std::string& out, std::int64_t value);
EBB_API void append_text(std::string& out, std::uint64_t value);
inline void append_text(std::string& out, int value) { append_text(out, std::int64_t{value}); }
inline void append_text(std::string& out, unsigned value) { append_text(out, std::uint64_t{value}); }

template <class... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  (append_text(out, parts), ...);
  return out;
}

/// The type in which fail() passes on one part of a message. String literals of all lengths have the same
/// type here, so that fewer throwing templates are instantiated.
template <class Part>
struct MessagePart {
  using type = const Part&;
};
template <std::size_t n>
struct MessagePart<char[n]> {
  using type = const char*;
};

template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail_with(Parts... parts) {
  throw E(text(parts...));
}
template <class E = Error, class... Parts>
[[noreturn, gnu::always_inline]] inline void fail(const Parts&... parts) {
  fail_with<E, typename MessagePart<Parts>::type...>(parts...);
}

}  // namespace detail
}  // namespace ebb

/// Throws ebb::Error with the concatenated message parts unless the condition holds.
#define EBB_CHECK(condition, ...)       \
  do {                                  \
    if (!(condition)) [[unlikely]]      \
      ::ebb::detail::fail(__VA_ARGS__); \
  } while (false)

/// Like EBB_CHECK, but throws ebb::IndexError.
#define EBB_CHECK_INDEX(condition, ...)                    \
  do {                                                     \
    if (!(condition)) [[unlikely]]                         \
      ::ebb::detail::fail<::ebb::IndexError>(__VA_ARGS__); \
  } while (false)
