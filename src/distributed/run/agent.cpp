// The agent: a process around one rank, which labels its output and says why it ended.
#include <ebb/core/error.h>

#include "distributed/launch.h"
#include "distributed/run/plan.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <tuple>
#include <utility>

namespace ebb::distributed::run {
namespace {

using Clock = std::chrono::steady_clock;
// The times from SIGTERM to SIGKILL. mpirun kills the agent itself a second after its signal.
constexpr std::chrono::milliseconds kGrace(5000), kGraceAfterSignal(500);

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Reads a byte at a time, because the rest of the input is not for this loop.
void read_settings() {
  std::string line;
  for (char c = 0; read(STDIN_FILENO, &c, 1) == 1;) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line.empty()) return;
    const std::size_t equals = line.find('=');
    if (equals != line.npos) setenv(line.substr(0, equals).c_str(), line.c_str() + equals + 1, 1);
    line.clear();
  }
}

int topology(std::size_t cpu, const char* what) {
  int value = 0;
  std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + what) >> value;
  return value;
}

// Binds the process to its part of the processors, in the order of sockets and cores. If there are fewer than
// ranks, each rank gets one thread.
void bind(const Launch& launch) {
  cpu_set_t allowed;
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
  cpu_set_t own;
  CPU_ZERO(&own);
  for (std::size_t i = processors.size() * rank / ranks; i < processors.size() * (rank + 1) / ranks; ++i)
    CPU_SET(std::get<2>(processors[i]), &own);
  sched_setaffinity(0, sizeof own, &own);
}

// A stream of output of the rank, whose lines get the label.
class Stream {
 public:
  explicit Stream(int target) : target_(target) {
    int ends[2] = {-1, -1};
    termios raw{};
    winsize size{};
    cfmakeraw(&raw);
    // On a terminal, programs write each line at once, and in colours.
    const bool is_terminal = isatty(target) && ioctl(target, TIOCGWINSZ, &size) == 0;
    EBB_CHECK((is_terminal ? openpty(&ends[0], &ends[1], nullptr, &raw, &size) : pipe(ends)) == 0,
              "the output of a rank has no file descriptor: ", std::strerror(errno), ". Raise `ulimit -n`");
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    from_ = ends[0];
    to_ = ends[1];
  }

  void become_output() const {
    dup2(to_, target_);
    close(to_);
  }
  void begin() { close(std::exchange(to_, -1)); }
  int file() const { return from_; }  // negative after the end

  // Writes the lines that have arrived. Each has one write, so that those of several ranks do not mix.
  void forward(const std::string& label) {
    char text[1 << 16];
    const ssize_t length = read(from_, text, sizeof text);
    for (ssize_t i = 0; i < length; ++i) {
      line_ += text[i];
      if (text[i] == '\n' || text[i] == '\r' || line_.size() >= sizeof text) flush(label);
    }
    if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) close(std::exchange(from_, -1));
  }
  void end(const std::string& label) {
    if (line_.empty()) return;
    line_ += '\n';
    flush(label);
  }

 private:
  void flush(const std::string& label) {
    write_all(target_, label + line_);
    line_.clear();
  }

  int target_, from_ = -1, to_ = -1;
  std::string line_;
};

[[noreturn]] void become(const Plan& plan, const sigset_t& signals, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(128 + SIGKILL);
  setpgid(0, 0);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  std::vector<char*> words;
  for (const std::string& word : plan.program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const bool is_missing = errno == ENOENT;
  write_all(STDERR_FILENO, ebb::detail::text("ebb run: cannot start ", words[0], ": ", std::strerror(errno),
                                             ". State its path, such as ./train\n"));
  _exit(is_missing ? 127 : 126);
}

std::string reason(int status) {
  if (WIFSIGNALED(status))
    return ebb::detail::text("was ended by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)),
                             ")");
  return ebb::detail::text("ended with the exit status ", WEXITSTATUS(status));
}

}  // namespace

int exit_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

int run_agent(const Plan& plan, bool has_settings) {
  if (has_settings) read_settings();
  const Launch launch = read_launch();
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, int>>{{"RANK", launch.rank},
                                                          {"WORLD_SIZE", launch.world_size},
                                                          {"LOCAL_RANK", launch.local_rank},
                                                          {"LOCAL_WORLD_SIZE", launch.local_size}})
    setenv(name, std::to_string(value).c_str(), 1);
  if (plan.binds) bind(launch);
  signal(SIGPIPE, SIG_IGN);
  sigset_t handled, before;
  sigemptyset(&handled);
  for (const int each : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&handled, each);
  sigprocmask(SIG_BLOCK, &handled, &before);
  const int signals = signalfd(-1, &handled, SFD_CLOEXEC);

  const std::string label = plan.labels ? ebb::detail::text("[", launch.rank, "] ") : "";
  std::vector<Stream> streams;
  if (plan.labels) {
    streams.emplace_back(STDOUT_FILENO);
    streams.emplace_back(STDERR_FILENO);
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  EBB_CHECK(child >= 0, "cannot start a process: ", std::strerror(errno), ". Raise `ulimit -u`");
  if (child == 0) {
    for (const Stream& stream : streams) stream.become_output();
    if (has_settings) {
      const int nothing = open("/dev/null", O_RDONLY);
      dup2(nothing, STDIN_FILENO);
    }
    signal(SIGPIPE, SIG_DFL);
    become(plan, before, parent);
  }
  setpgid(child, child);
  for (Stream& stream : streams) stream.begin();

  bool is_told = false, has_ended = false;  // told to end by the launcher
  int status = 0;
  auto kill_at = Clock::time_point::max();
  const auto tell = [&](std::chrono::milliseconds grace) {
    if (std::exchange(is_told, true)) return;
    kill(-child, SIGTERM);
    kill(-child, SIGCONT);
    kill_at = Clock::now() + grace;
  };
  // After the end, output is read as long as it arrives, but processes that the program left behind may keep
  // the descriptors open.
  for (bool reads = true; !has_ended || (reads && Clock::now() < kill_at);) {
    std::vector<pollfd> files = {{has_ended ? -1 : signals, POLLIN, 0},
                                 {has_settings && !is_told && !has_ended ? STDIN_FILENO : -1, POLLIN, 0}};
    for (const Stream& stream : streams) files.push_back({stream.file(), POLLIN, 0});
    reads = poll(files.data(), files.size(), has_ended ? 100 : 500) > 0;
    for (std::size_t i = 0; i < streams.size(); ++i)
      if (files[i + 2].revents != 0) streams[i].forward(label);
    if (has_ended) {
      reads =
          reads && std::any_of(streams.begin(), streams.end(), [](const Stream& s) { return s.file() >= 0; });
      continue;
    }
    signalfd_siginfo info{};
    if (files[0].revents != 0 && read(signals, &info, sizeof info) == sizeof info &&
        info.ssi_signo != SIGCHLD)
      tell(kGraceAfterSignal);
    char unused = 0;
    if (files[1].revents != 0 && read(STDIN_FILENO, &unused, 1) <= 0) tell(kGrace);
    if (Clock::now() > kill_at) kill(-child, SIGKILL);
    if (waitpid(child, &status, WNOHANG) == child) {
      has_ended = true;
      kill(-child, SIGKILL);  // processes that it has started
      kill_at = Clock::now() + kGrace;
    }
  }
  for (Stream& stream : streams) stream.end(label);
  if (exit_status(status) != 0 && !is_told) {
    char host[HOST_NAME_MAX + 1] = {};
    gethostname(host, sizeof host - 1);
    write_all(STDERR_FILENO, ebb::detail::text("ebb run: rank ", launch.rank, " of ", launch.world_size,
                                               " on ", host, " ", reason(status), "\n"));
  }
  return exit_status(status);
}

}  // namespace ebb::distributed::run
