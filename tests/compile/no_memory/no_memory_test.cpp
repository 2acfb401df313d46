// Compiled functions when an allocation fails: each allocation of a call fails once.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cstdlib>
#include <exception>
#include <new>

namespace {

// The number of allocations of the thread before one fails; if it is negative, none fails.
thread_local long until_failure = -1;

void* allocate(std::size_t bytes) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  if (void* const block = std::malloc(bytes != 0 ? bytes : 1)) return block;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes != 0 ? bytes : 1);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes != 0 ? bytes : 1);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }

using namespace ebb;

TEST_CASE("a call that runs out of memory throws or gives the right result, and later calls give it too") {
  const Tensor w = arange(6, kFloat).view({3, 2}), x = ones({4, 3});
  const auto body = [&](const Tensor& a) {
    const NoGradGuard no_grad;
    return (a.matmul(w).relu() * 2 + 1).sum(0);
  };
  const Tensor expected = body(x);
  int failures = 0;
  // The second call prepares the tape, and the third call is the first replay, which allocates the arena.
  for (const int settled_calls : {0, 1, 2}) {
    for (long fails_at = 0;; ++fails_at) {
      auto f = compile(body);
      for (int i = 0; i < settled_calls; ++i) f(x);
      Tensor result;
      bool failed = false;
      until_failure = fails_at;
      try {
        result = f(x);
      } catch (const std::exception&) {  // kernels convert std::bad_alloc to an Error that names the op
        failed = true;
      }
      const bool reached = until_failure < 0;
      until_failure = -1;
      failures += failed;
      INFO("call " << settled_calls << ", allocation " << fails_at);
      if (!failed) REQUIRE(equal(result, expected));
      for (int i = 0; i < 4; ++i) REQUIRE(equal(f(x), expected));
      REQUIRE(f.report().replays > 0);
      if (!reached) break;
    }
  }
  CHECK(failures > 10);
}
