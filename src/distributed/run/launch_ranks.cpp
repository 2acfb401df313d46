// launch: starts the ranks by mpirun, by srun, or by an agent for each, and waits for their end.
#include <ebb/core/environment.h>
#include <ebb/core/error.h>

#include "distributed/run/plan.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

extern char** environ;

namespace ebb::distributed::run {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;
// From the request to end until SIGKILL. It is longer than the time that an agent gives to its rank.
constexpr auto kGrace = std::chrono::seconds(10);

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

/// The processes that this program has started: mpirun, srun, ssh or agents.
class Job {
 public:
  Job() {
    sigemptyset(&signals_);
    for (const int each : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals_, each);
    sigprocmask(SIG_BLOCK, &signals_, &before_);
    before_pipe_ = signal(SIGPIPE, SIG_IGN);
  }
  ~Job() {
    signal(SIGPIPE, before_pipe_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  // Starts a command. With settings, its input has them, and its end is a request to end.
  void start(const Words& command, const std::string& settings) {
    int ends[2] = {-1, -1};
    EBB_CHECK(settings.empty() || pipe2(ends, O_CLOEXEC) == 0,
              "cannot start a process: ", std::strerror(errno), ". Raise `ulimit -n`");
    const pid_t parent = getpid();
    const pid_t child = fork();
    EBB_CHECK(child >= 0, "cannot start a process: ", std::strerror(errno), ". Raise `ulimit -u`");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent) _exit(1);
      if (!settings.empty()) dup2(ends[0], STDIN_FILENO);
      signal(SIGPIPE, SIG_DFL);
      sigprocmask(SIG_SETMASK, &before_, nullptr);
      std::vector<char*> words;
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      execvp(words[0], words.data());
      std::fprintf(stderr, "ebb run: cannot start %s: %s. Install it\n", words[0], std::strerror(errno));
      _exit(127);
    }
    if (!settings.empty()) {
      close(ends[0]);
      // A process that has ended already reports its own failure.
      static_cast<void>(!write(ends[1], settings.data(), settings.size()));
    }
    children_.push_back({child, ends[1]});
  }

  int wait(bool& interrupted) {
    int status = 0, interruption = 0;
    while (!children_.empty()) {
      const timespec limit{0, 500'000'000};
      const int signal = sigtimedwait(&signals_, nullptr, &limit);
      if (signal > 0 && signal != SIGCHLD) {
        interruption = signal;
        stop();
      }
      int ended = 0;
      for (pid_t child = 0; (child = waitpid(-1, &ended, WNOHANG)) > 0;) {
        std::erase_if(children_, [child](const Child& each) {
          return each.process == child && (each.input < 0 || close(each.input) <= 0);
        });
        if (exit_status(ended) == 0) continue;
        if (status == 0) status = exit_status(ended);
        stop();
      }
      if (Clock::now() > kill_at_)
        for (const Child& each : children_) kill(each.process, SIGKILL);
    }
    interrupted = interruption != 0;
    return interrupted ? 128 + interruption : status;
  }

 private:
  struct Child {
    pid_t process;
    int input;  // its end of the pipe, or -1
  };

  void stop() {
    if (kill_at_ != Clock::time_point::max()) return;
    kill_at_ = Clock::now() + kGrace;
    for (Child& each : children_) {
      if (each.input < 0)
        kill(each.process, SIGTERM);
      else
        close(std::exchange(each.input, -1));
    }
  }

  sigset_t signals_{}, before_{};
  sighandler_t before_pipe_;
  std::vector<Child> children_;
  Clock::time_point kill_at_ = Clock::time_point::max();
};

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

Words agent(const Plan& plan, const char* kind) {
  Words words = {own_program(), kind};
  if (!plan.labels) words.emplace_back("--no-labels");
  if (!plan.binds) words.emplace_back("--no-bind");
  words.emplace_back("--");
  words.insert(words.end(), plan.program.begin(), plan.program.end());
  return words;
}

std::string output_of(const char* command) {
  std::string text;
  if (std::FILE* const pipe = popen(command, "r")) {
    char part[512];
    while (const std::size_t length = std::fread(part, 1, sizeof part, pipe)) text.append(part, length);
    pclose(pipe);
  }
  return text;
}

Words mpirun(const Plan& plan) {
  const std::string version = output_of("mpirun --version 2>/dev/null");
  EBB_CHECK(!version.empty(),
            "the backend mpi needs the program mpirun, which is not on the path. Install it (Debian: "
            "openmpi-bin), or use --backend nccl");
  const bool is_open_mpi =
      version.find("Open MPI") != version.npos || version.find("OpenRTE") != version.npos;
  Words words = {"mpirun", "-n", std::to_string(plan.ranks)};
  std::string list;
  for (const Host& host : plan.hosts)
    if (!host.name.empty()) list += (list.empty() ? "" : ",") + host.name + ':' + std::to_string(host.ranks);
  if (!list.empty()) words.insert(words.end(), {is_open_mpi ? "--host" : "-hosts", list});
  if (is_open_mpi) {
    // The agents bind the ranks.
    words.insert(words.end(), {"--bind-to", "none"});
    cpu_set_t allowed;
    const bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    words.emplace_back(list.empty() && is_known && CPU_COUNT(&allowed) < plan.ranks ? "--oversubscribe"
                                                                                    : "--use-hwthread-cpus");
    if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
    for (const std::string& variable : variables())
      if (!variable.starts_with("PATH="))
        words.insert(words.end(), {"-x", variable.substr(0, variable.find('='))});
  }
  const Words rank = agent(plan, "--agent");
  words.insert(words.end(), rank.begin(), rank.end());
  return words;
}

std::string random_token() {
  unsigned char bytes[16] = {};
  EBB_CHECK(getrandom(bytes, sizeof bytes, 0) == sizeof bytes, "the system gives no random bytes");
  std::string text;
  for (const unsigned char byte : bytes)
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
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

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

Words through_ssh(const std::string& host, const Words& command) {
  std::string line = "cd " + quoted(std::filesystem::current_path().string()) + " && exec";
  for (const std::string& word : command) line += ' ' + quoted(word);
  return {"ssh", "-o", "BatchMode=yes", host, line};
}

// Starts srun, or an agent for each rank. The input of the agents has the settings, which an argument would
// show to other users of the machine.
void start_agents(const Plan& plan, Job& job) {
  std::string common;
  for (const std::string& variable : variables()) common += variable + '\n';
  const std::string master = plan.hosts[0].name.empty() ? "127.0.0.1" : plan.hosts[0].name;
  common += ebb::detail::text("MASTER_ADDR=", master, "\nMASTER_PORT=", free_port(),
                              "\nEBB_RENDEZVOUS_TOKEN=", random_token(), "\n");
  Words rank_command = agent(plan, "--agent-with-settings");
  if (ebb::detail::environment("SLURM_JOB_ID") && !plan.hosts[0].name.empty()) {
    Words words = {"srun",
                   "-n",
                   std::to_string(plan.ranks),
                   "-N",
                   std::to_string(plan.hosts.size()),
                   "--kill-on-bad-exit=1"};
    std::string list;
    for (const Host& host : plan.hosts) list += (list.empty() ? "" : ",") + host.name;
    words.insert(words.end(), {"--nodelist", list});
    Plan unbound = plan;
    unbound.binds = false;  // Slurm binds its tasks
    rank_command = agent(unbound, "--agent-with-settings");
    words.insert(words.end(), rank_command.begin(), rank_command.end());
    job.start(words, common + '\n');
    return;
  }
  int rank = 0;
  for (const Host& host : plan.hosts)
    for (int local = 0; local < host.ranks; ++local, ++rank) {
      const std::string own =
          ebb::detail::text("RANK=", rank, "\nWORLD_SIZE=", plan.ranks, "\nLOCAL_RANK=", local,
                            "\nLOCAL_WORLD_SIZE=", host.ranks, "\n\n");
      job.start(host.name.empty() ? rank_command : through_ssh(host.name, rank_command), common + own);
      // sshd refuses more than ten connections that have not logged in yet.
      if (!host.name.empty()) usleep(50'000);
    }
}

}  // namespace

int launch(const Plan& plan, bool& interrupted) {
  Job job;
  if (plan.backend == "mpi")
    job.start(mpirun(plan), "");
  else
    start_agents(plan, job);
  return job.wait(interrupted);
}

}  // namespace ebb::distributed::run
