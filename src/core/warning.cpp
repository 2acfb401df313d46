// Where warnings go: one handler a thread.
#include <ebb/core/warning.h>

#include <cstdio>

namespace ebb {

namespace {

WarningHandler& default_handler() {
  // Never destroyed: a program may warn while it shuts down.
  static WarningHandler* const handler = new WarningHandler;
  return *handler;
}

constinit thread_local WarningHandler* current = nullptr;
constinit std::atomic<bool> always_warns{false};

}  // namespace

WarningHandler::~WarningHandler() = default;

void WarningHandler::process(const Warning& warning) { process({}, warning.msg(), /*verbatim=*/false); }
void WarningHandler::process(const SourceLocation&, const std::string& message, bool) {
  // One call, so that lines of several threads do not mix.
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
