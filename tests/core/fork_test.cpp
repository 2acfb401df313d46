// Forked children can use the library, even if threads of the parent held its locks during fork. The tests
// are omitted for AddressSanitizer and ThreadSanitizer, whose own locks may stay locked in a child of several
// threads.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <ebb/ebb.h>

#include "support/catch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

using ebb::Variable;

namespace {

// Forks repeatedly while three threads run `work`, and runs it once in each child. Returns the number of
// failed children. First-use initialization happens before, because a fork during it cannot be repaired.
template <class Work>
int failed_children(Work&& work, int forks = 20) {
  work();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop) work();
    });
  int failed = 0;
  for (int i = 0; i < forks; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // because a lock of a lost thread would never be released
      work();
      ::_exit(0);
    }
    int status = 1;
    failed += child < 0 || ::waitpid(child, &status, 0) != child || status != 0;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return failed;
}

}  // namespace

TEST_CASE("a forked child can allocate and free tensors") {
  CHECK(failed_children([] {
          std::vector<Variable> made;
          for (int k = 1; k < 400; ++k) made.push_back(ebb::empty({k * 16}));
          made.clear();
          ebb::empty_cache();
        }) == 0);
}

TEST_CASE("a forked child can draw random numbers") {
  CHECK(failed_children([] {
          for (int k = 0; k < 20; ++k) ebb::rand({1000});
        }) == 0);
}

TEST_CASE("a forked child can draw from a user's generator and its copies") {
  ebb::Generator own(7);
  CHECK(failed_children(
            [&] {
              ebb::empty({3000}).normal_(0, 1, own);
              ebb::Generator copy = own.clone();
              ebb::empty({100}).uniform_(0, 1, copy);
            },
            200) == 0);
}

TEST_CASE("a forked child can use modules and compiled functions") {
  CHECK(failed_children(
            [] {
              auto f = ebb::compile([](const Variable& x) { return x * 2 + 1; });
              for (int k = 0; k < 4; ++k) f(ebb::ones({4}));
              ebb::nn::Linear layer(2, 2);
              layer(ebb::ones({1, 2})).sum().backward();
            },
            200) == 0);
}

TEST_CASE("a forked child can accumulate gradients") {
  const Variable leaf = ebb::ones({1000}).requires_grad_();
  CHECK(failed_children([&] {
          for (int k = 0; k < 20; ++k) (leaf * 2).sum().backward();
        }) == 0);
}

#endif
