// parallel_for and its thread pool: every piece runs once, whatever happens to the threads.
#include <ebb/ebb.h>

#include "core/parallel_for.h"
#include "core/thread_pool.h"
#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

using ebb::cpu::parallel_for;
using support::kChildrenRun;
using support::status_of_child;

namespace {

class Threads {
 public:
  explicit Threads(int n) { ebb::set_num_threads(n); }
  ~Threads() { ebb::set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = ebb::get_num_threads();
};

// Returns whether every element of [0, n) is visited once.
bool covers(std::int64_t n) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
  parallel_for(0, n, 1, [&](std::int64_t from, std::int64_t to) {
    for (; from < to; ++from) ++visits[static_cast<std::size_t>(from)];
  });
  for (const auto& v : visits)
    if (v != 1) return false;
  return true;
}

// Returns whether a pool runs each of 1000 pieces once.
bool covers(ebb::cpu::detail::Pool& pool) {
  constexpr int kPieces = 1000;
  std::vector<std::atomic<int>> visits(kPieces);
  const auto visit = [](void* counts, std::int64_t from, std::int64_t to) {
    for (; from < to; ++from) ++(*static_cast<decltype(visits)*>(counts))[static_cast<std::size_t>(from)];
  };
  if (!pool.try_run(0, kPieces, kPieces, visit, &visits)) return false;
  for (const auto& v : visits)
    if (v != 1) return false;
  return true;
}

// Runs a job of two pieces that both begin before either continues; body(is the caller).
template <class Body>
void meet(Body&& body) {
  std::atomic<int> begun{0};
  const auto caller = std::this_thread::get_id();
  parallel_for(0, 2, 1, [&](std::int64_t from, std::int64_t to) {
    if (to - from != 1) throw std::logic_error("the job was not cut");
    ++begun;
    while (begun < 2) std::this_thread::yield();
    body(std::this_thread::get_id() == caller);
  });
}

}  // namespace

TEST_CASE("parallel_for runs every piece once while the number of threads changes") {
  const Threads keep(4);
  std::atomic<bool> all{true};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&, t] {
      for (std::int64_t i = 0; i < 3000; ++i) {
        // Bodies and sizes alternate, so that a piece of another job is detected.
        if (i % 2 == 0) {
          if (!covers(2 + i % 7)) all = false;
        } else {
          std::atomic<std::int64_t> sum{0};
          parallel_for(i, i + 2 + t, 1, [&sum](std::int64_t from, std::int64_t to) {
            for (; from < to; ++from) sum += from;
          });
          if (sum != (2 + t) * i + (2 + t) * (1 + t) / 2) all = false;
        }
      }
    });
  for (int i = 0; i < 40; ++i) {
    ebb::set_num_threads(2 + i % 4);
    std::this_thread::yield();
  }
  for (std::thread& t : callers) t.join();
  CHECK(all);
}

TEST_CASE("parallel_for rethrows the exception of any thread and stays usable") {
  const Threads keep(2);
  for (const bool in_caller : {false, true, false})
    for (int i = 0; i < 20; ++i) {
      const auto job = [&] {
        meet([&](bool caller) {
          if (caller == in_caller) throw std::runtime_error("a piece");
        });
      };
      CHECK_THROWS_WITH(job(), "a piece");
      CHECK_NOTHROW(meet([](bool) {}));
      CHECK(covers(100));
    }
  CHECK_THROWS_WITH(meet([](bool) { throw std::runtime_error("both"); }), "both");
  CHECK(covers(100));
  // An op rethrows as well: the invalid index is in the piece of the last thread.
  const ebb::Variable table = ebb::ones({10, 4}), index = ebb::zeros({1 << 18}, ebb::kLong);
  index.index_put_({-1}, 10);
  CHECK_THROWS_WITH(ebb::index_select(table, 0, index),
                    support::Contains("index_select: index 10 is out of bounds for dimension 0"));
  CHECK(covers(100));
}

TEST_CASE("a nested parallel_for runs in the calling thread") {
  const Threads keep(2);
  meet([](bool) {
    const auto self = std::this_thread::get_id();
    int pieces = 0;
    parallel_for(0, 100, 1, [&](std::int64_t, std::int64_t) {
      ++pieces;
      if (std::this_thread::get_id() != self) throw std::logic_error("another thread");
    });
    if (pieces != 1) throw std::logic_error("cut again");
  });
  CHECK(covers(100));
}

TEST_CASE("a forked child starts its own threads") {
  if (!kChildrenRun) return;
  const Threads keep(3);
  REQUIRE(covers(100));
  CHECK(status_of_child([] {
          meet([](bool) {});
          return covers(100) && ebb::ones({1 << 18}).sum().item<float>() == 1 << 18;
        }) == 0);
  meet([](bool) {});
  // The same while other threads run jobs and create new pools.
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (int i = 0; !stop; ++i) {
      if (i % 8 == 0) ebb::set_num_threads(2 + i / 8 % 3);
      covers(50);
    }
  });
  int status = 0;
  for (int i = 0; i < 20 && status == 0; ++i)
    status = status_of_child([] { return covers(100) && covers(7); });
  stop = true;
  other.join();
  CHECK(status == 0);
}

TEST_CASE("parallel_for does not wait for a worker that has not started") {
  if (!kChildrenRun) return;
  CHECK(status_of_child([] {
          static std::atomic<bool> held{false};
          ebb::set_num_threads(2);
          pthread_t worker{};
          meet([&](bool caller) {
            if (!caller) worker = pthread_self();
          });
          // The handler holds the worker forever.
          signal(SIGUSR1, [](int) {
            held = true;
            for (;;) pause();
          });
          // The worker sleeps by then; a handler that interrupts it earlier could hold a lock.
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          pthread_kill(worker, SIGUSR1);
          while (!held) std::this_thread::yield();
          for (int i = 0; i < 100; ++i)
            if (!covers(2 + i)) return false;
          return true;
        }) == 0);
}

TEST_CASE("parallel_for gives the pieces of a delayed thread to other threads") {
  const Threads two(2);
  constexpr std::int64_t kPieces = 2 * ebb::cpu::detail::kPiecesPerThread;
  std::atomic<std::int64_t> others{0};
  bool cut = true;
  parallel_for(0, kPieces, 1, [&](std::int64_t from, std::int64_t to) {
    if (from > 0) {
      ++others;
      return;
    }
    // The thread with the first piece waits for all others.
    cut = to - from == 1;
    while (cut && others < kPieces - 1) std::this_thread::yield();
  });
  CHECK(cut);
  CHECK(others == kPieces - 1);
}

TEST_CASE("a job runs on no more threads than there are CPUs, but on at least two") {
  const Threads keep(64);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int i = 0; i < 20; ++i)
    parallel_for(0, 256, 1, [&](std::int64_t from, std::int64_t to) {
      if (to - from != 1) throw std::logic_error("the job was not cut for 64 threads");
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  const int cpus = std::max(2, ebb::cpu::detail::available_cpus());
  CHECK(seen.size() >= 2);
  CHECK(seen.size() <= static_cast<std::size_t>(std::min(cpus, 64)));
  CHECK(ebb::get_num_threads() == 64);
}

TEST_CASE("a pool works with fewer threads if the system cannot create all") {
  if (!kChildrenRun) return;
  CHECK(status_of_child([] {
          if (!support::limit_memory(4 << 20)) return false;
          const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
          if (mmap(nullptr, std::size_t{16} << 20, PROT_READ, flags, -1, 0) != MAP_FAILED) return false;
          // Some threads start on stacks that threads of the parent left.
          ebb::cpu::detail::Pool pool(300);
          return covers(pool) && pool.size() < 300 && pool.asked() == 300;
        }) == 0);
}

TEST_CASE("starting many threads leaves memory for ops") {
  if (!kChildrenRun) return;
  CHECK(status_of_child([] {
          constexpr std::size_t kMore = std::size_t{256} << 20;
          if (!support::limit_memory(kMore)) return false;
          ebb::cpu::detail::Pool pool(1000);
          const bool does_work = covers(pool);
          const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
          return does_work && mmap(nullptr, kMore / 4, PROT_READ, flags, -1, 0) != MAP_FAILED;
        }) == 0);
}

TEST_CASE("the initial number of threads depends on CPU affinity, CPU quota and environment variables") {
  const FakeRoot root;
  root.write("/proc/self/mountinfo", "1 0 0:1 / /group rw - cgroup2 cgroup2 rw\n");
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/group/cpu.max", "50000 100000\n");
  int affine = 0, within_quota = 0, of_omp = 0, of_ebb = 0;
  // Runs in a thread, whose affinity ends with it.
  std::thread([&] {
    const char* const names[] = {"EBB_NUM_THREADS", "OMP_NUM_THREADS"};
    std::string before[2];
    for (int i = 0; i < 2; ++i) {
      if (const char* value = std::getenv(names[i])) before[i] = value;
      unsetenv(names[i]);
    }
    within_quota = ebb::cpu::detail::default_threads(root.path());
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    for (int cpu = 0, kept = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mask) && kept++ > 0) CPU_CLR(cpu, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
    affine = ebb::cpu::detail::default_threads();
    setenv(names[1], "5", 1);
    of_omp = ebb::cpu::detail::default_threads(root.path());
    setenv(names[0], "3", 1);
    of_ebb = ebb::cpu::detail::default_threads(root.path());
    for (int i = 0; i < 2; ++i)
      before[i].empty() ? unsetenv(names[i]) : setenv(names[i], before[i].c_str(), 1);
  }).join();
  CHECK(affine == 1);
  CHECK(within_quota == 1);
  CHECK(of_omp == 5);
  CHECK(of_ebb == 3);
}
