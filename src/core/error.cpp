// Error classes and the text of their messages; the warning handler of each thread.
#include <ebb/core/array_ref.h>
#include <ebb/core/error.h>
#include <ebb/core/visit.h>
#include <ebb/core/warning.h>

#include "core/messages.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <ostream>
#include <typeinfo>

namespace ebb {

// The destructors are defined here, so that only this library contains the type information. Other libraries
// can therefore catch these exceptions.
Error::~Error() = default;
IndexError::~IndexError() = default;
NotImplementedError::~NotImplementedError() = default;

namespace detail {

namespace {
template <class T>
void append_number(std::string& out, T value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, end.ptr);
}
}  // namespace

void append_text(std::string& out, double value) { append_number(out, value); }
void append_text(std::string& out, std::int64_t value) { append_number(out, value); }
void append_text(std::string& out, std::uint64_t value) { append_number(out, value); }

void rethrow_with(const std::string& more) {
  // Limits the length: an error that is rethrown through thousands of calls names only the first of them.
  constexpr std::size_t kLong = 1 << 14;
  const auto again = [&]<class E>(const E& error) {
    if (typeid(error) != typeid(E) || std::strlen(error.what()) > kLong) throw;
    throw E(error.what() + more);
  };
  try {
    throw;
  } catch (const IndexError& error) {
    again(error);
  } catch (const NotImplementedError& error) {
    again(error);
  } catch (const Error& error) {
    again(error);
  }
  std::terminate();  // unreachable: every current error is caught above
}

void unsupported_dtype(const char* op, DType dtype, const char* expected) {
  fail(op, ": dtype ", dtype, " is not supported; expected ", expected, ". Convert with x.to(dtype).");
}

}  // namespace detail

void append_text(std::string& out, IntArrayRef values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) out += ", ";
    detail::append_text(out, values[i]);
  }
  out += ']';
}

std::ostream& operator<<(std::ostream& out, IntArrayRef values) {
  std::string s;
  append_text(s, values);
  return out << s;
}

namespace {

WarningHandler& default_handler() {
  // The handler is never destroyed, because a program may warn during its shutdown.
  static WarningHandler* const handler = new WarningHandler;
  return *handler;
}

constinit thread_local WarningHandler* current = nullptr;
constinit std::atomic<bool> always_warns{false};

}  // namespace

WarningHandler::~WarningHandler() = default;

void WarningHandler::process(const Warning& warning) { process({}, warning.msg(), /*verbatim=*/false); }
void WarningHandler::process(const SourceLocation&, const std::string& message, bool) {
  // One call writes the whole line, so that lines of several threads do not mix.
  std::fprintf(stderr, "Warning: %s\n", message.c_str());
}

void set_warning_handler(WarningHandler* handler) noexcept { current = handler; }
WarningHandler* get_warning_handler() noexcept { return current ? current : &default_handler(); }
void Warning::set_warning_handler(WarningHandler* handler) noexcept { ebb::set_warning_handler(handler); }
WarningHandler* Warning::get_warning_handler() noexcept { return ebb::get_warning_handler(); }

void Warning::set_warnAlways(bool always) noexcept { always_warns = always; }
bool Warning::get_warnAlways() noexcept { return always_warns; }

void warn(const Warning& warning) { get_warning_handler()->process(warning); }

}  // namespace ebb
