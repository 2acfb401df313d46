// The program ebb-run: starts a program in many processes, and starts it again after a failure.
#include <ebb/core/error.h>

#include "distributed/run/job.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace {

using ebb::distributed::run::Host;
using ebb::distributed::run::Job;
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
    const std::size_t colon = std::min(entry.find(':'), entry.size());
    const std::string name(entry.substr(0, colon));
    // A name with a hyphen would be an option of ssh.
    EBB_CHECK(!name.empty() && name[0] != '-', "--hosts has no name in \"", entry, "\"");
    for (const Host& host : hosts)
      EBB_CHECK(host.name != name, "--hosts names ", name, " twice. State its processes together, as in ",
                name, ":2");
    hosts.push_back({name, colon == entry.size() ? 0 : number("--hosts", entry.substr(colon + 1), 1)});
  }
  return hosts;
}

// Divides the ranks among the hosts that state no number.
void divide(Plan& plan) {
  if (plan.hosts.empty()) plan.hosts = {{"", 0}};
  std::vector<Host*> open;
  int rest = plan.ranks;
  for (Host& host : plan.hosts) {
    rest -= host.ranks;
    if (host.ranks == 0) open.push_back(&host);
  }
  if (plan.ranks == 0 && open.empty()) plan.ranks = std::exchange(rest, 0) * -1;
  EBB_CHECK(plan.ranks > 0, "-n is missing. State the number of processes, as in `ebb run -n 4 ./train`");
  const int hosts = static_cast<int>(open.size());
  EBB_CHECK(hosts > 0 ? rest >= hosts : rest == 0, "-n ", plan.ranks, " does not fit --hosts, which states ",
            plan.ranks - rest, " processes and ", hosts, " hosts without a number");
  for (int i = 0; i < hosts; ++i) open[i]->ranks = rest / hosts + (i < rest % hosts ? 1 : 0);
}

// Reads the options. `host` becomes that of an agent. Throws ebb::Error for options that are wrong.
Plan plan_of(const std::vector<std::string>& words, std::optional<std::string>& host) {
  Plan plan;
  plan.words = words;
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
    if (word == "-n")
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
    else if (word == "--agent")
      host = value();
    else
      ebb::detail::fail("there is no option ", word);
  }
  plan.program.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  EBB_CHECK(!plan.program.empty(), "there is no program");
  EBB_CHECK(plan.backend == "mpi" || plan.backend == "nccl", "--backend is \"", plan.backend,
            "\", but must be mpi or nccl");
  divide(plan);
  return plan;
}

int start(const Plan& plan) {
  // Variables of another launcher around this one would be taken for those of the ranks.
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) unsetenv(name);
  setenv("EBB_DISTRIBUTED_BACKEND", plan.backend.c_str(), 1);
  Job job(std::chrono::seconds(10));  // longer than the time that an agent gives its ranks
  for (int restart = 0;; ++restart) {
    setenv("EBB_RESTART_COUNT", std::to_string(restart).c_str(), 1);
    const int status = ebb::distributed::run::launch(plan, job);
    if (status == 0 || job.is_interrupted()) return status;
    const bool cannot_start = status == 126 || status == 127;
    if (restart == plan.restarts || cannot_start) {
      std::fprintf(stderr, "ebb run: all ranks have ended, with the exit status %d\n", status);
      return status;
    }
    std::fprintf(stderr, "ebb run: starts all %d ranks again, restart %d of %d\n", plan.ranks, restart + 1,
                 plan.restarts);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h"))
    return std::fputs(kUsage, stdout) < 0 ? 1 : 0;
  Plan plan;
  std::optional<std::string> host;
  try {
    plan = plan_of(arguments, host);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ebb: run: %s. \"ebb help run\" tells how to call it.\n", error.what());
    return 2;
  }
  try {
    return host ? run_agent(plan, *host) : start(plan);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ebb: run: %s\n", error.what());
    return 1;
  }
}
