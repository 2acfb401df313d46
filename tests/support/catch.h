// The only header that includes Catch2, version 2 (Debian 12) or 3 (Debian 13, Ubuntu 24.04). It gives one
// name to each thing that the versions name differently.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <utility>

#if __has_include(<catch2/catch_all.hpp>)
#define EBB_CATCH_3 1
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#define EBB_CATCH_3 0
#include <catch2/catch.hpp>
#endif

namespace support {

#if EBB_CATCH_3
using Listener = Catch::EventListenerBase;
#elif defined(CATCH_CONFIG_EXTERNAL_INTERFACES)
using Listener = Catch::TestEventListenerBase;  // for a file that defines the macro before its first include
#endif

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

/// Matches a text that contains `part`.
inline auto Contains(const std::string& part) {
#if EBB_CATCH_3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}

#if EBB_CATCH_3
template <class T>
using Matcher = Catch::Matchers::MatcherBase<T>;
#else
template <class T>
using Matcher = Catch::MatcherBase<T>;
#endif

/// Matches an exception whose message contains `part`, for CHECK_THROWS_MATCHES, which also checks the type.
class Saying : public Matcher<std::exception> {
 public:
  explicit Saying(std::string part) : part_(std::move(part)) {}
  bool match(const std::exception& error) const override {
    return std::string(error.what()).find(part_) != std::string::npos;
  }
  std::string describe() const override { return "says \"" + part_ + '"'; }

 private:
  std::string part_;
};

/// Adds a test case that runs `body`, for cases that a table creates before main().
inline void add_case(const std::string& name, const std::string& tags, std::function<void()> body) {
  struct Case : Catch::ITestInvoker {
    explicit Case(std::function<void()> run) : body(std::move(run)) {}
    void invoke() const override { body(); }
    std::function<void()> body;
  };
#if EBB_CATCH_3
  Catch::AutoReg(Catch::Detail::make_unique<Case>(std::move(body)), CATCH_INTERNAL_LINEINFO,
                 Catch::StringRef(), Catch::NameAndTags(name, tags));
#else
  Catch::AutoReg(new Case(std::move(body)), CATCH_INTERNAL_LINEINFO, Catch::StringRef(),
                 Catch::NameAndTags(name, tags));
#endif
}

/// Runs Catch2 with the command line and returns the exit status. If `obstacle` returns a reason to run no
/// case, the program prints "skipped: " and the reason and returns 77, which CTest counts as skipped. Both
/// versions of Catch2 list the names of cases on any machine with --list-test-names-only.
int run_tests(int argc, char** argv, const std::function<std::string()>& obstacle = {});

}  // namespace support
