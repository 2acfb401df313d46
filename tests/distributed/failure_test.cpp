// Failures: ranks that are late, stopped, gone, dead or diverged, and links with faults.
#include "ranks.h"
#include "support/catch.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

using namespace ebb::distributed;
using ebb::Tensor;
using std::chrono::milliseconds;
using support::Contains;

namespace {

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const ebb::Error& error) {
    return error.what();
  }
  return "no error";
}

// Runs a program whose cases check their own errors.
void expect_success(const std::string& tag, const std::string& variables = "", int count = 2) {
  if (!ranks::can_run()) return;
  const ranks::Outcome outcome = ranks::run(count, tag, variables);
  INFO(outcome.output);
  CHECK_THAT(outcome.output, Contains("All tests passed"));
  CHECK_THAT(outcome.output, !Contains("FAILED"));
  CHECK(outcome.status != 124);  // the limit of `timeout`
}

InitOptions limited(const char* backend = "mpi") { return InitOptions(backend).timeout(milliseconds(500)); }

}  // namespace

TEST_CASE("a collective names the rank that has left") { expect_success("[.left]"); }
TEST_CASE("rank 1 leaves after one collective", "[.left]") {
  ranks::join();
  Tensor x = ebb::ones({3});
  all_reduce(x);
  if (rank() == 1) return;
  const std::string error = error_of([&] { all_reduce(x); });
  CHECK_THAT(error, Contains("distributed::all_reduce: rank 0 of 2, collective 2 of group 0: rank 1 has left "
                             "after its collective 1"));
  CHECK_THAT(error_of([&] { barrier(); }),
             Contains("cannot be used any more") && Contains("rank 1 has left"));
}

TEST_CASE("a collective that is late names the missing rank on all ranks") {
  expect_success("[.late]", "", 3);
}
TEST_CASE("rank 1 computes for longer than the time limit", "[.late]") {
  ranks::join(limited());
  Tensor x = ebb::ones({3});
  broadcast(x, 0);
  if (rank() == 1) std::this_thread::sleep_for(milliseconds(1500));
  const std::string error = error_of([&] { all_reduce(x); });
  CHECK_THAT(error, Contains("rank 1 has not called it: its last call is broadcast, collective 1"));
  if (rank() == 1) CHECK_THAT(error, Contains(" reports: "));
}

TEST_CASE("a stopped process is an error on the others within the time limit") {
  if (!ranks::can_run()) return;
  CHECK_THAT(ranks::run(2, "[.stopped]").output, Contains("(2 assertions in 1 test case)"));
}
TEST_CASE("rank 1 is stopped", "[.stopped]") {
  ranks::join(limited());
  if (rank() == 1) raise(SIGSTOP);
  Tensor x = ebb::ones({3});
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THAT(
      error_of([&] { all_reduce(x); }),
      Contains("all_reduce: rank 0 of 2, collective 1 of group 0: is not complete after 500 ms. Missing: "
               "rank 1 does not answer"));
  CHECK(std::chrono::steady_clock::now() - begin < milliseconds(30000));
}

TEST_CASE("a killed process ends the program with its signal") {
  if (!ranks::can_run()) return;
  const ranks::Outcome outcome = ranks::run(2, "[.killed]");
  INFO(outcome.output);
  CHECK(outcome.status == 128 + SIGKILL);
  CHECK_THAT(outcome.output, Contains("signal 9"));
}
TEST_CASE("rank 1 is killed", "[.killed]") {
  ranks::join();
  if (rank() == 1) raise(SIGKILL);
  Tensor x = ebb::ones({3});
  all_reduce(x);
}

TEST_CASE("debug mode names the ranks that call something else") { expect_success("[.diverged]"); }
TEST_CASE("the ranks call different collectives", "[.diverged]") {
  ranks::join(InitOptions("mpi").debug(true));
  const ProcessGroup shapes = new_group({0, 1}), kinds = new_group({0, 1});
  Tensor x = ebb::ones({2 + rank()});
  CHECK_THAT(error_of([&] { all_reduce(x, ReduceOp::SUM, shapes); }),
             Contains("from rank 0 on all_reduce of Float by SUM [ 2 ]") &&
                 Contains("from rank 1 on all_reduce of Float by SUM [ 3 ]"));
  CHECK_THAT(error_of([&] {
               if (rank() == 0)
                 all_reduce(x, ReduceOp::SUM, kinds);
               else
                 broadcast(x, 0, kinds);
             }),
             Contains("all_reduce") && Contains("from rank 1 on broadcast"));
  Tensor y = ebb::ones({2});
  all_reduce(y);  // the world is not affected
  CHECK(y.sum().item<double>() == 4);
}

TEST_CASE("a list of groups that differs is an error on all ranks") { expect_success("[.lists]"); }
TEST_CASE("the ranks make different groups", "[.lists]") {
  ranks::join();
  CHECK_THAT(error_of([] { new_group({rank()}); }),
             Contains("new_group of ranks 0") && Contains("new_group of ranks 1"));
}

TEST_CASE("a part of another size is an error") { expect_success("[.sizes]"); }
TEST_CASE("rank 0 expects less than rank 1 sends", "[.sizes]") {
  ranks::join(limited());
  std::vector<Tensor> outputs = {ebb::ones({2}), ebb::ones({2})};
  if (rank() == 1) outputs[1] = ebb::ones({3});
  const std::string error = error_of([&] {
    all_gather(outputs, outputs[static_cast<std::size_t>(rank())]);
    barrier();
  });
  CHECK_THAT(error, Contains("all_gather: rank 0 of 2, collective 1 of group 0"));
}

TEST_CASE("a recv without a send is an error that names the source") { expect_success("[.unsent]"); }
TEST_CASE("rank 1 sends nothing", "[.unsent]") {
  ranks::join(limited());
  Tensor x = ebb::ones({2});
  if (rank() == 0)
    CHECK_THAT(error_of([&] { recv(x, 1); }),
               Contains("recv: rank 0 of 2, message 1") && Contains("matching send"));
  else
    CHECK_THAT(error_of([&] {
                 std::this_thread::sleep_for(milliseconds(1500));
                 barrier();
               }),
               Contains("rank 0 reports"));
}

TEST_CASE("late and reordered ends of operations change no value") {
  expect_success("[.ranks]", "EBB_TEST_BACKEND=faulty EBB_FAULTS='delay=1 jitter=4'");
}

TEST_CASE("a lost operation is an error within the time limit on all ranks") {
  expect_success("[.lost]", "EBB_FAULTS=drop=1:3");
}
TEST_CASE("the third operation of rank 1 is lost", "[.lost]") {
  ranks::join(limited("faulty"));
  Tensor x = ebb::ones({3});
  all_reduce(x);
  all_reduce(x);
  CHECK_THAT(error_of([&] { all_reduce(x); }), Contains("collective 3 of group 0"));
}

TEST_CASE("a cut link is an error within the time limit on both sides") {
  expect_success("[.cut]", "EBB_FAULTS=cut=1:2");
}
TEST_CASE("the link of rank 1 is cut", "[.cut]") {
  ranks::join(limited("faulty"));
  Tensor x = ebb::ones({3});
  all_reduce(x);
  CHECK_THAT(error_of([&] { all_reduce(x); }),
             Contains("Missing: rank " + std::to_string(1 - rank()) + " does not answer"));
}
