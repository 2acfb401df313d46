// launch: starts the ranks by mpirun, or by an agent on each host, and waits for their end.
#include <ebb/core/environment.h>
#include <ebb/core/error.h>

#include "distributed/run/job.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

namespace ebb::distributed::run {
namespace {

// Returns the variables that other hosts need, as NAME=VALUE.
Words variables() {
  Words found;
  for (char** each = environ; *each; ++each) {
    const std::string_view entry = *each;
    if (entry.find('\n') != entry.npos) continue;
    for (const std::string_view prefix : {"EBB_", "NCCL_", "CUDA_", "LD_LIBRARY_PATH=", "PATH=", "OMP_"})
      if (entry.starts_with(prefix)) found.emplace_back(entry);
  }
  return found;
}

Words operator+(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::string joined(const std::vector<Host>& hosts, bool with_ranks) {
  std::string list;
  for (const Host& host : hosts)
    if (!host.name.empty())
      list += (list.empty() ? "" : ",") + host.name + (with_ranks ? ':' + std::to_string(host.ranks) : "");
  return list;
}

// Returns the command of an agent, which reads the same options.
Words agent(const Plan& plan, const std::string& host) {
  return Words{std::filesystem::read_symlink("/proc/self/exe").string(), "--agent", host} + plan.words;
}

Words mpirun(const Plan& plan) {
  EBB_CHECK(std::system("mpirun --version >/dev/null 2>&1") == 0,
            "the backend mpi needs the program mpirun, which is not on the path. Install it (Debian: "
            "openmpi-bin), or use --backend nccl");
  const bool is_open_mpi = std::system("mpirun --version 2>&1 | grep -qE 'Open MPI|OpenRTE'") == 0;
  Words words = {"mpirun", "-n", std::to_string(plan.ranks)};
  const std::string hosts = joined(plan.hosts, true);
  if (!hosts.empty()) words = words + Words{is_open_mpi ? "--host" : "-hosts", hosts};
  if (is_open_mpi) {
    cpu_set_t allowed;
    const bool is_short = hosts.empty() && sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
                          CPU_COUNT(&allowed) < plan.ranks;
    // The agents bind the ranks.
    words = words + Words{"--bind-to", "none", is_short ? "--oversubscribe" : "--use-hwthread-cpus"};
    if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
    for (const std::string& variable : variables())
      if (!variable.starts_with("PATH=")) words = words + Words{"-x", variable.substr(0, variable.find('='))};
  }
  return words + agent(plan, "");
}

std::string random_token() {
  std::random_device device;
  char text[33] = {};
  std::snprintf(text, sizeof text, "%08x%08x%08x%08x", device(), device(), device(), device());
  return text;
}

// Returns a port that is free on this machine now.
int free_port() {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  EBB_CHECK(file >= 0 && bind(file, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0,
            "no port of this machine is free: ", std::strerror(errno));
  close(file);
  return ntohs(address.sin_port);
}

Words through_ssh(const std::string& host, const Words& command) {
  const auto quoted = [](const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
  };
  std::string line = "cd " + quoted(std::filesystem::current_path().string()) + " && exec";
  for (const std::string& word : command) line += ' ' + quoted(word);
  return {"ssh", "-o", "BatchMode=yes", host, line};
}

// Starts the agents: through srun within a job of Slurm, or through ssh on other hosts. Their input has the
// settings, which an argument would show to other users of the machine.
void start_agents(const Plan& plan, Job& job) {
  const std::string master = plan.hosts[0].name.empty() ? "127.0.0.1" : plan.hosts[0].name;
  Command command;
  for (const std::string& variable : variables()) command.input += variable + '\n';
  command.input += ebb::detail::text("MASTER_ADDR=", master, "\nMASTER_PORT=", free_port(),
                                     "\nEBB_RENDEZVOUS_TOKEN=", random_token(), "\n\n");
  if (plan.hosts[0].name.empty()) {
    command.words = agent(plan, "");
    job.start(command);
  } else if (ebb::detail::environment("SLURM_JOB_ID")) {
    const std::string count = std::to_string(plan.hosts.size());
    command.words = Words{"srun", "-n", count, "-N", count, "--nodelist", joined(plan.hosts, false)} +
                    Words{"--ntasks-per-node=1", "--cpu-bind=quiet,none", "--kill-on-bad-exit=1"} +
                    agent(plan, "");
    job.start(command);
  } else {
    command.label = "";  // so that lines of several hosts do not mix
    for (const Host& host : plan.hosts) {
      command.words = through_ssh(host.name, agent(plan, host.name));
      job.start(command);
    }
  }
}

}  // namespace

int launch(const Plan& plan, Job& job) {
  if (plan.backend == "mpi")
    job.start({mpirun(plan), {}, {}, {}, {}});
  else
    start_agents(plan, job);
  return job.wait();
}

}  // namespace ebb::distributed::run
