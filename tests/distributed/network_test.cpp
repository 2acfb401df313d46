// Networks: each rank has a network namespace of its own, and a relay between them delays, reorders or loses
// the frames.
#include "ranks.h"
#include "support/catch.h"

#include <filesystem>

using namespace ebb::distributed;
using ebb::Tensor;
using support::Contains;

namespace {

// Returns whether two namespaces and a veth pair can be made. Otherwise warns that the case is skipped.
bool can_make_networks() {
  static const bool works =
      ranks::shell(
          "ip netns add ebb-probe && ip -n ebb-probe link add end0 type veth peer name end1; result=$?; "
          "ip netns del ebb-probe; exit $result")
          .status == 0;
  if (!works) WARN("skipped: needs root, and ip with network namespaces (Debian: iproute2)");
  return works && ranks::can_run();
}

// Runs the hidden cases in two ranks. `faults` are the delay and the jitter in milliseconds, and the
// percentage of lost frames.
ranks::Outcome run_between(const std::string& faults, const std::string& tag) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe"),
                              folder = program.parent_path();
  return ranks::shell("EBB_PLUGIN_PATH=" + folder.string() +
                      " EBB_NUM_THREADS=1 timeout 200 " EBB_RELAY_NETWORK " " + (folder / "relay").string() +
                      " '" + faults + "' '" + program.string() + "' '" + tag + "'");
}

}  // namespace

TEST_CASE("a network that delays, reorders and loses frames changes no value") {
  if (!can_make_networks()) return;
  for (const std::string faults : {"3 0 0", "0 5 0", "0 0 1"})
    for (const std::string tag : {"[.ranks]", "[.ddp]"}) {
      const ranks::Outcome outcome = run_between(faults, tag);
      INFO(faults << ", cases " << tag << ":\n" << outcome.output);
      CHECK(outcome.status == 0);
      CHECK_THAT(outcome.output, Contains("All tests passed"));
    }
}

TEST_CASE("a cut cable is an error within the time limit on both sides") {
  if (!can_make_networks()) return;
  const ranks::Outcome outcome = run_between("0 0 0", "[.cable]");
  INFO(outcome.output);
  const std::string passed = "All tests passed";
  const std::size_t first = outcome.output.find(passed);
  CHECK(outcome.output.find(passed, first + 1) != std::string::npos);  // on both ranks
  CHECK_THAT(outcome.output, !Contains("FAILED"));
  CHECK(outcome.status != 124);  // the limit of `timeout`
}
TEST_CASE("the cable is cut after some collectives", "[.cable]") {
  ranks::join(InitOptions("mpi").timeout(std::chrono::milliseconds(800)));
  Tensor x = ebb::ones({1000});
  for (int i = 0; i < 20; ++i) all_reduce(x, ReduceOp::AVG);
  CHECK(x.sum().item<double>() == 1000);
  if (rank() == 0) REQUIRE(std::system(std::getenv("EBB_TEST_CUT")) == 0);
  const auto begin = std::chrono::steady_clock::now();
  std::string message = "no error";
  try {
    for (int i = 0; i < 1000; ++i) all_reduce(x);
  } catch (const ebb::Error& error) {
    message = error.what();
  }
  CHECK_THAT(message,
             Contains("distributed::all_reduce: rank " + std::to_string(rank()) + " of 2, collective ") &&
                 Contains("rank " + std::to_string(1 - rank()) + " does not answer"));
  CHECK(std::chrono::steady_clock::now() - begin <
        std::chrono::seconds(3));  // before the cable is whole again
}
