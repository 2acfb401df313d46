// Warnings for calls that are allowed but probably wrong. They go to stderr or to the thread's handler.
#pragma once

#include <ebb/core/error.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace ebb {

class WarningHandler;
class WarningHandlerGuard;

/// A line of a program (torch: c10::SourceLocation).
struct SourceLocation {
  const char* function = "";
  const char* file = "";
  std::uint32_t line = 0;
};

/// The argument of a handler (torch: c10::Warning). In libtorch 1.13 the static functions of this class are
/// functions of a namespace Warning.
class EBB_API Warning {
 public:
  explicit Warning(std::string message) : message_(std::move(message)) {}
  const std::string& msg() const noexcept { return message_; }

  using WarningHandlerGuard = ebb::WarningHandlerGuard;
  static void set_warning_handler(WarningHandler* handler) noexcept;
  static WarningHandler* get_warning_handler() noexcept;

  /// Sets whether one-time warnings (warns_first) are repeated each time, on all threads.
  static void set_warnAlways(bool always) noexcept;
  static bool get_warnAlways() noexcept;
  /// Sets the flag of set_warnAlways() for a scope.
  class WarnAlways {
   public:
    explicit WarnAlways(bool always = true) : previous_(get_warnAlways()) { set_warnAlways(always); }
    WarnAlways(const WarnAlways&) = delete;
    WarnAlways& operator=(const WarnAlways&) = delete;
    ~WarnAlways() { set_warnAlways(previous_); }

   private:
    bool previous_;
  };

 private:
  std::string message_;
};

/// Handles warnings (torch: c10::WarningHandler). This one writes "Warning: ..." to stderr; derive from it to
/// log or drop them. If process() throws, the exception leaves the op that warned, before the op computes.
class EBB_API WarningHandler {
 public:
  virtual ~WarningHandler();
  /// Calls the overload below with an empty location.
  virtual void process(const Warning& warning);
  /// Writes the message to stderr. This overload has the signature of libtorch 1.13, so that handlers written
  /// for libtorch compile.
  virtual void process(const SourceLocation& place, const std::string& message, bool verbatim);
};

/// Sets the calling thread's handler, which must outlive its use; nullptr restores the handler that writes to
/// stderr. (torch: c10::WarningUtils::set_warning_handler)
EBB_API void set_warning_handler(WarningHandler* handler) noexcept;
/// Returns the calling thread's handler, which is never null.
EBB_API WarningHandler* get_warning_handler() noexcept;

/// Sets the thread's handler for a scope. (torch: c10::WarningUtils::WarningHandlerGuard)
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : previous_(get_warning_handler()) {
    set_warning_handler(handler);
  }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;
  ~WarningHandlerGuard() { set_warning_handler(previous_); }

 private:
  WarningHandler* previous_;
};

/// Passes a warning to the calling thread's handler, without the one-time check. (torch: c10::warn)
EBB_API void warn(const Warning& warning);
/// Warns with the concatenated message parts: text, numbers, shapes, dtypes. (torch: TORCH_WARN)
template <class First, class... Rest>
  requires(!std::is_same_v<First, Warning>)
[[gnu::cold, gnu::noinline]] void warn(const First& first, const Rest&... rest) {
  warn(Warning(detail::text(first, rest...)));
}

/// Returns whether a one-time warning must be given now. `warned` is a static variable of the caller. (torch:
/// TORCH_WARN_ONCE)
inline bool warns_first(std::atomic_flag& warned) noexcept {
  return (!warned.test(std::memory_order_relaxed) && !warned.test_and_set()) || Warning::get_warnAlways();
}

/// libtorch's namespace for handlers and for the flag of one-time warnings.
namespace WarningUtils {
using ebb::get_warning_handler;
using ebb::set_warning_handler;
using ebb::WarningHandlerGuard;
using WarnAlways = Warning::WarnAlways;
inline void set_warnAlways(bool always) noexcept { Warning::set_warnAlways(always); }
inline bool get_warnAlways() noexcept { return Warning::get_warnAlways(); }
}  // namespace WarningUtils

}  // namespace ebb
