// The program ebb-run: starts a program in many processes, and starts it again after a failure.
#include <ebb/core/error.h>

#include "distributed/run/plan.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using ebb::distributed::run::Host;
using ebb::distributed::run::Plan;

constexpr const char* kUsage =
    "usage: ebb run -n N [OPTION...] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Starts N processes of a program that calls ebb::distributed::init(). When one fails,\n"
    "ends the others, and says which one failed and why.\n"
    "\n"
    "  -n N                 the number of processes, on all hosts together\n"
    "  --hosts A:4,B:4      the hosts and their numbers of processes; \":4\" may be missing.\n"
    "                       Programs and files have the same paths on all hosts.\n"
    "  --backend mpi|nccl   mpi starts mpirun. nccl starts the processes itself, and\n"
    "                       uses ssh on hosts, or srun within a job of Slurm.\n"
    "  --max-restarts K     starts all processes again after a failure, at most K times;\n"
    "                       the program continues from its last checkpoint\n"
    "  --no-labels          does not begin each line of output with the rank\n"
    "  --no-bind            does not divide the cores of a host among its processes\n"
    "\n"
    "The processes find RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,\n"
    "MASTER_PORT, EBB_DISTRIBUTED_BACKEND and EBB_RESTART_COUNT in their environment.\n";

int number(std::string_view option, std::string_view text, int least) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EBB_CHECK(error == std::errc() && end == text.data() + text.size() && value >= least && value <= 1 << 20,
            option, " needs an integer of at least ", least, ", but has \"", text, "\"");
  return value;
}

std::vector<Host> hosts_of(std::string_view list) {
  std::vector<Host> hosts;
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
    const std::size_t colon = entry.find(':');
    // A name with a hyphen would be an option of ssh.
    EBB_CHECK(!entry.empty() && entry[0] != '-' && colon != 0, "--hosts has no name in \"", entry, "\"");
    hosts.push_back({std::string(entry.substr(0, colon)),
                     colon == entry.npos ? 0 : number("--hosts", entry.substr(colon + 1), 1)});
  }
  return hosts;
}

// Divides the ranks among the hosts that state no number.
void divide(Plan& plan) {
  if (plan.hosts.empty()) plan.hosts = {{"", plan.ranks}};
  int stated = 0, open = 0;
  for (const Host& host : plan.hosts) {
    stated += host.ranks;
    open += host.ranks == 0 ? 1 : 0;
  }
  if (plan.ranks == 0 && open == 0) plan.ranks = stated;
  EBB_CHECK(plan.ranks > 0, "-n is missing. State the number of processes, as in `ebb run -n 4 ./train`");
  const int rest = plan.ranks - stated;
  EBB_CHECK(open > 0 ? rest >= open : rest == 0, "-n ", plan.ranks, " does not fit --hosts, which states ",
            stated, " processes and ", open, " hosts without a number");
  for (int i = 0; Host & host : plan.hosts)
    if (host.ranks == 0) {
      host.ranks = rest / open + (i < rest % open ? 1 : 0);
      ++i;
    }
}

// Reads the options. Throws ebb::Error for those that are wrong.
Plan plan_of(const std::vector<std::string>& words, bool& is_agent, bool& has_settings) {
  Plan plan;
  std::size_t at = 0;
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    const std::string& word = words[at];
    const auto value = [&]() -> const std::string& {
      EBB_CHECK(at + 1 < words.size(), word, " needs a value");
      return words[++at];
    };
    if (word == "--") {
      ++at;
      break;
    }
    if (word == "-n" || word == "-np")
      plan.ranks = number(word, value(), 1);
    else if (word == "--hosts")
      plan.hosts = hosts_of(value());
    else if (word == "--backend")
      plan.backend = value();
    else if (word == "--max-restarts")
      plan.restarts = number(word, value(), 0);
    else if (word == "--no-labels")
      plan.labels = false;
    else if (word == "--no-bind")
      plan.binds = false;
    else if (word == "--agent" || word == "--agent-with-settings") {
      is_agent = true;
      has_settings = word != "--agent";
    } else
      ebb::detail::fail("there is no option ", word);
  }
  plan.program.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  EBB_CHECK(!plan.program.empty(), "there is no program");
  EBB_CHECK(plan.backend == "mpi" || plan.backend == "nccl", "--backend is \"", plan.backend,
            "\", but must be mpi or nccl");
  if (!is_agent) divide(plan);
  return plan;
}

int start(const Plan& plan) {
  using ebb::distributed::run::launch;
  // Variables of another launcher around this one would be taken for those of the ranks.
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) unsetenv(name);
  setenv("EBB_DISTRIBUTED_BACKEND", plan.backend.c_str(), 1);
  for (int restart = 0;; ++restart) {
    setenv("EBB_RESTART_COUNT", std::to_string(restart).c_str(), 1);
    bool interrupted = false;
    const int status = launch(plan, interrupted);
    if (status == 0 || interrupted) return status;
    constexpr int kCannotStart = 126;  // and 127: the program is missing
    const bool again = restart < plan.restarts && status != kCannotStart && status != kCannotStart + 1;
    if (again)
      std::fprintf(stderr, "ebb run: starts all %d ranks again, restart %d of %d\n", plan.ranks, restart + 1,
                   plan.restarts);
    else
      std::fprintf(stderr, "ebb run: all ranks have ended, with the exit status %d\n", status);
    if (!again) return status;
  }
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h"))
    return std::fputs(kUsage, stdout) < 0 ? 1 : 0;
  Plan plan;
  bool is_agent = false, has_settings = false;
  try {
    plan = plan_of(arguments, is_agent, has_settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ebb: run: %s. \"ebb help run\" tells how to call it.\n", error.what());
    return 2;
  }
  try {
    return is_agent ? run_agent(plan, has_settings) : start(plan);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ebb: run: %s\n", error.what());
    return 1;
  }
}
