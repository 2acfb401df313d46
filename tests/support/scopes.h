// Settings for a scope: an environment variable, recorded warnings, a system that refuses threads.
#pragma once

#include <ebb/core/warning.h>

#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

// An environment variable for a scope.

namespace support {

/// Sets a variable, or unsets it if no value is given. The destructor restores the previous value.
class Environment {
 public:
  explicit Environment(std::string name, const std::optional<std::string>& value = {})
      : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  ~Environment() { set(before_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    value ? ::setenv(name_.c_str(), value->c_str(), 1) : ::unsetenv(name_.c_str());
  }
  std::string name_;
  std::optional<std::string> before_;
};

// The warnings of a scope, recorded instead of printed.

/// Records the messages of this thread's warnings during its lifetime.
struct Warnings : ebb::WarningHandler {
  void process(const ebb::Warning& warning) override { texts.push_back(warning.msg()); }

  std::vector<std::string> texts;

 private:
  ebb::WarningHandlerGuard guard_{this};
};

// A system that refuses every new thread.

/// During its lifetime, the default stack size is larger than the address space, so no thread can start.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_init(&wanted_);
    pthread_getattr_default_np(&wanted_);
    pthread_attr_getstacksize(&wanted_, &before_);
    set(std::size_t{1} << 56);
  }
  ~NoThreads() {
    set(before_);
    pthread_attr_destroy(&wanted_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  void set(std::size_t bytes) {
    pthread_attr_setstacksize(&wanted_, bytes);
    pthread_setattr_default_np(&wanted_);
  }
  pthread_attr_t wanted_;
  std::size_t before_ = 0;
};

}  // namespace support
