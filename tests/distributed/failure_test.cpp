// Failures: ranks that are late, stopped, gone, dead or diverged, and links with faults.
#include "ranks.h"
#include "support/catch.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

using namespace ebb::distributed;
using ebb::Tensor;
using ranks::error_of;
using std::chrono::milliseconds;
using support::Contains;

namespace {

// Runs a program, whose cases check their own errors, with each number of ranks.
void expect_success(const std::string& tag, const std::string& variables = "",
                    const std::vector<int>& counts = {2}) {
  if (!ranks::can_run()) return;
  for (const int count : counts) {
    const ranks::Outcome outcome = ranks::run(count, tag, variables);
    INFO(count << " ranks:\n" << outcome.output);
    CHECK_THAT(outcome.output, Contains("All tests passed"));
    CHECK_THAT(outcome.output, !Contains("FAILED"));
    CHECK(outcome.status != 124);  // the limit of `timeout`
  }
}

// A short time limit. Eight ranks on few cores need a longer one.
milliseconds limit() {
  const char* const ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  return milliseconds(ranks && std::stoi(ranks) > 4 ? 3000 : 500);
}
InitOptions limited(const char* backend = "mpi") { return InitOptions(backend).timeout(limit()); }

}  // namespace

TEST_CASE("a collective names the rank that has left") { expect_success("[.left]", "", {2, 8}); }
TEST_CASE("rank 1 leaves after one collective", "[.left]") {
  ranks::join();
  Tensor x = ebb::ones({3});
  all_reduce(x);
  if (rank() == 1) return;
  const std::string error = error_of([&] { all_reduce(x); });
  // One of the ranks detects it first, and tells the others.
  CHECK_THAT(error, Contains("distributed::all_reduce: rank ") &&
                        Contains(" of " + std::to_string(world_size()) +
                                 ", collective 2 of group 0: rank 1 has left "
                                 "after its collective 1"));
  CHECK_THAT(error_of([&] { barrier(); }),
             Contains("cannot be used any more") && Contains("rank 1 has left"));
}

TEST_CASE("a collective that is late names the missing rank on all ranks") {
  expect_success("[.late]", "", {3, 8});
}
TEST_CASE("rank 1 computes for longer than the time limit", "[.late]") {
  ranks::join(limited());
  Tensor x = ebb::ones({3});
  broadcast(x, 0);
  if (rank() == 1) std::this_thread::sleep_for(limit() + milliseconds(1000));
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
             Contains("from rank 0 on all_reduce of Float by SUM [2]") &&
                 Contains("from rank 1 on all_reduce of Float by SUM [3]"));
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

TEST_CASE("debug mode names the parts that do not fit") { expect_success("[.parts]"); }
TEST_CASE("rank 1 sends more elements than rank 0 receives", "[.parts]") {
  ranks::join(InitOptions("mpi").debug(true).timeout(std::chrono::seconds(10)));
  const std::int64_t more = rank();
  const Tensor two = ebb::ones({2}), x = ebb::ones({2 + more});
  const auto error_in_group = [](const std::function<void(const ProcessGroup&)>& body) {
    const ProcessGroup group = new_group({0, 1});
    return error_of([&] { body(group); });
  };
  // Rank 0 sends 2 elements to each rank, and rank 1 sends 3 to rank 0.
  CHECK_THAT(error_in_group([&](const ProcessGroup& group) {
               all_to_all({ebb::ones({2}), ebb::ones({2})}, {x, two}, group);
             }),
             Contains("from rank 0 on all_to_all of Float root 0, sends 2 2, receives 2 2; from rank 1 on "
                      "all_to_all of Float root 0, sends 3 2, receives 2 2;"));
  CHECK_THAT(error_in_group([&](const ProcessGroup& group) {
               all_to_all_single(ebb::ones({4}), ebb::ones({4 + more}), {2, 2}, {2 + more, 2}, group);
             }),
             Contains("sends 3 2, receives 2 2"));
  CHECK_THAT(error_in_group([&](const ProcessGroup& group) {
               gather(x, rank() == 0 ? std::vector<Tensor>{two, two} : std::vector<Tensor>(), 0, group);
             }),
             Contains("gather of Float root 0, sends 2 0, receives 2 2; from rank 1 on") &&
                 Contains("sends 3 0, receives 0 0"));
  CHECK_THAT(error_in_group([&](const ProcessGroup& group) {
               scatter(x, rank() == 0 ? std::vector<Tensor>{two, two} : std::vector<Tensor>(), 0, group);
             }),
             Contains("scatter of Float root 0, sends 2 2, receives 2 0; from rank 1 on") &&
                 Contains("sends 0 0, receives 3 0"));
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

TEST_CASE("collectives behind one that failed fail, too") { expect_success("[.behind]"); }
TEST_CASE("many collectives follow one whose parts do not fit", "[.behind]") {
  ranks::join(limited());
  std::vector<Tensor> outputs = {ebb::ones({2}), ebb::ones({2 + rank()})}, others;
  std::vector<Work> works = {all_gather(outputs, outputs[static_cast<std::size_t>(rank())], {}, true)};
  // The first error may arrive between two of these calls, which then throw.
  const std::string refused = error_of([&] {
    for (int i = 0; i < 200; ++i) {
      others.push_back(ebb::ones({3}));
      works.push_back(all_reduce(others.back(), ReduceOp::SUM, {}, true));
    }
  });
  if (refused != "no error") CHECK_THAT(refused, Contains("cannot be used any more"));
  const std::string after = error_of([&] { barrier(); });
  if (rank() == 0) CHECK_THAT(after, Contains("all_gather: rank 0 of 2, collective 1 of group 0"));
  for (Work& work : works) error_of([&] { work.wait(); });
  for (const Work& work : works) CHECK(work.is_completed());
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
  expect_success("[.lost]", "EBB_FAULTS=drop=1:3", {2, 8});
}
TEST_CASE("the third operation of rank 1 is lost", "[.lost]") {
  ranks::join(limited("faulty"));
  Tensor x = ebb::ones({3});
  all_reduce(x);
  all_reduce(x);
  CHECK_THAT(error_of([&] { all_reduce(x); }), Contains("collective 3 of group 0"));
}

TEST_CASE("a collective before one that fails elsewhere gives its result") {
  expect_success("[.before]", "EBB_FAULTS=late=1:700");
}
TEST_CASE("rank 1 is still in a collective when rank 0 fails in the next", "[.before]") {
  ranks::join(limited("faulty").timeout(std::chrono::seconds(10)));
  Tensor x = ebb::ones({3});
  std::vector<Tensor> outputs = {ebb::ones({2}), ebb::ones({2 + rank()})};  // rank 1 sends more than fits
  Work sum = all_reduce(x, ReduceOp::SUM, {}, true);
  Work parts = all_gather(outputs, outputs[static_cast<std::size_t>(rank())], {}, true);
  CHECK(error_of([&] { sum.wait(); }) == "no error");
  CHECK(x.sum().item<double>() == 6);
  if (rank() == 0) CHECK(error_of([&] { parts.wait(); }) != "no error");
  CHECK_THAT(error_of([&] { barrier(); }), Contains("all_gather: rank 0 of 2, collective 2 of group 0") &&
                                               Contains(rank() == 1 ? "rank 0 reports" : ""));
}

TEST_CASE("a cut link is an error within the time limit on all sides") {
  expect_success("[.cut]", "EBB_FAULTS=cut=1:2", {2, 8});
}
TEST_CASE("the link of rank 1 is cut", "[.cut]") {
  ranks::join(limited("faulty"));
  Tensor x = ebb::ones({3});
  all_reduce(x);
  CHECK_THAT(error_of([&] { all_reduce(x); }),
             Contains(rank() == 1 ? "Missing: rank 0 does not answer" : "Missing: rank 1 does not answer"));
}
