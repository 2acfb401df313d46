// The agent: a process around the ranks of one host, or around one rank of MPI.
#include <ebb/core/environment.h>
#include <ebb/core/error.h>

#include "distributed/launch.h"
#include "distributed/run/job.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <tuple>

namespace ebb::distributed::run {
namespace {

using std::chrono::milliseconds;

int topology(std::size_t cpu, const char* what) {
  int value = 0;
  std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + what) >> value;
  return value;
}

// Binds the process to its part of the processors, in the order of sockets and cores. If there are fewer than
// ranks, each rank gets one thread.
void bind(const Launch& launch) {
  cpu_set_t allowed, own;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::vector<std::tuple<int, int, std::size_t>> processors;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed))
      processors.emplace_back(topology(cpu, "physical_package_id"), topology(cpu, "core_id"), cpu);
  std::sort(processors.begin(), processors.end());
  const auto ranks = static_cast<std::size_t>(launch.local_size);
  const auto rank = static_cast<std::size_t>(launch.local_rank);
  if (processors.size() < ranks) {
    setenv("EBB_NUM_THREADS", "1", 0);
    return;
  }
  CPU_ZERO(&own);
  for (std::size_t i = processors.size() * rank / ranks; i < processors.size() * (rank + 1) / ranks; ++i)
    CPU_SET(std::get<2>(processors[i]), &own);
  sched_setaffinity(0, sizeof own, &own);
}

void start_rank(Job& job, const Plan& plan, const Launch& launch) {
  Command command;
  command.words = plan.program;
  command.rank = ebb::detail::text("rank ", launch.rank, " of ", launch.world_size);
  if (plan.labels) command.label = ebb::detail::text("[", launch.rank, "] ");
  command.prepare = [&] {
    for (const auto& [name, value] :
         std::initializer_list<std::pair<const char*, int>>{{"RANK", launch.rank},
                                                            {"WORLD_SIZE", launch.world_size},
                                                            {"LOCAL_RANK", launch.local_rank},
                                                            {"LOCAL_WORLD_SIZE", launch.local_size}})
      setenv(name, std::to_string(value).c_str(), 1);
    if (plan.binds) bind(launch);
  };
  job.start(command);
}

// Reads the settings from the input, which becomes empty for the ranks. Returns a descriptor that ends with
// the launcher.
int read_settings() {
  for (std::string line; std::getline(std::cin, line) && !line.empty();) {
    const std::size_t equals = std::min(line.find('='), line.size() - 1);
    setenv(line.substr(0, equals).c_str(), line.c_str() + equals + 1, 1);
  }
  const int launcher = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  return launcher;
}

}  // namespace

int run_agent(const Plan& plan, const std::string& host) {
  if (plan.backend == "mpi") {
    Job job(milliseconds(500));  // mpirun kills the agent a second after its signal
    start_rank(job, plan, read_launch());
    return job.wait();
  }
  const int launcher = read_settings();
  Job job(milliseconds(5000));
  Launch launch;
  launch.world_size = plan.ranks;
  // srun starts one agent on each host, which has a name that Slurm states.
  const char* const node = ebb::detail::environment("SLURMD_NODENAME");
  const std::string name = host.empty() && node ? node : host;
  auto own = plan.hosts.begin();
  for (; own + 1 != plan.hosts.end() && own->name != name; ++own) launch.rank += own->ranks;
  EBB_CHECK(own->name == name || own->name.empty(), "the host \"", name, "\" is not in --hosts");
  launch.local_size = own->ranks;
  for (; launch.local_rank < own->ranks; ++launch.local_rank, ++launch.rank) start_rank(job, plan, launch);
  const int status = job.wait(launcher);
  return job.is_interrupted() ? 1 : status;  // srun returns the largest status of all agents
}

}  // namespace ebb::distributed::run
