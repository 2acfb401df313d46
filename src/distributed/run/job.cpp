// Job: processes that end together.
#include "distributed/run/job.h"

#include <ebb/core/error.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

namespace ebb::distributed::run {
namespace {

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void execute(const Words& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  const int status = errno == ENOENT ? 127 : 126;  // as shells do
  write_all(STDERR_FILENO, ebb::detail::text("ebb run: cannot start ", words[0], ": ", std::strerror(errno),
                                             ". Install it, or state its path, such as ./train\n"));
  _exit(status);
}

// Opens a pipe for an output of a process, or a terminal if `target` is one, so that programs write each line
// at once, and in colours.
void open_output(int target, int (&ends)[2]) {
  termios raw{};
  winsize size{};
  cfmakeraw(&raw);
  const bool is_terminal = isatty(target) && ioctl(target, TIOCGWINSZ, &size) == 0;
  EBB_CHECK((is_terminal ? openpty(&ends[0], &ends[1], nullptr, &raw, &size) : pipe(ends)) == 0,
            "the output of a process has no file descriptor: ", std::strerror(errno), ". Raise `ulimit -n`");
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
}

// Returns whether a process has a child that has not ended.
bool has_living_child(pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  for (std::string child, state; children >> child;) {
    std::getline(std::ifstream("/proc/" + child + "/stat"), state);
    const std::size_t name = state.rfind(") ");
    if (name != state.npos && state[name + 2] != 'Z') return true;
  }
  return false;
}

}  // namespace

Job::Job(std::chrono::milliseconds grace) : grace_(grace) {
  sigemptyset(&handled_);
  for (const int each : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&handled_, each);
  sigprocmask(SIG_BLOCK, &handled_, &before_);
  signals_ = signalfd(-1, &handled_, SFD_CLOEXEC);
  signal(SIGPIPE, SIG_IGN);
}

void Job::start(const Command& command) {
  const bool is_rank = !command.rank.empty();
  if (is_rank) guard_.start();
  int input[2] = {-1, -1}, outputs[2][2] = {{-1, -1}, {-1, -1}};
  EBB_CHECK(command.input.empty() || pipe2(input, O_CLOEXEC) == 0,
            "cannot start a process: ", std::strerror(errno), ". Raise `ulimit -n`");
  if (command.label)
    for (const int target : {STDOUT_FILENO, STDERR_FILENO}) open_output(target, outputs[target - 1]);
  const pid_t parent = getpid(), child = fork();
  EBB_CHECK(child >= 0, "cannot start a process: ", std::strerror(errno), ". Raise `ulimit -u`");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, is_rank ? SIGKILL : SIGTERM);
    if (getppid() != parent) _exit(128 + SIGKILL);
    if (is_rank) setpgid(0, 0);
    for (const auto& [from, to] : {std::pair(input[0], STDIN_FILENO), std::pair(outputs[0][1], STDOUT_FILENO),
                                   std::pair(outputs[1][1], STDERR_FILENO)})
      if (from >= 0) dup2(from, to);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    if (command.prepare) command.prepare();
    execute(command.words);
  }
  if (is_rank) {
    setpgid(child, child);
    guard_.tell(child);
  }
  for (const int end : {input[0], outputs[0][1], outputs[1][1]})
    if (end >= 0) close(end);
  if (command.label)
    for (const int target : {STDOUT_FILENO, STDERR_FILENO})
      streams_.push_back({outputs[target - 1][0], target, *command.label, {}});
  write_all(input[1], command.input);
  processes_.push_back({is_rank ? -child : child, input[1], command.rank});
}

int Job::wait(int launcher) {
  while (!processes_.empty()) step(500, launcher);
  // Processes that a rank has left behind may keep its output open.
  const auto until = Clock::now() + grace_;
  while (Clock::now() < until && step(100, launcher)) {
  }
  for (Stream& stream : streams_) end(stream);
  streams_.clear();
  kill_at_ = Clock::time_point::max();
  const int status = std::exchange(status_, 0);
  return signal_ != 0 ? 128 + signal_ : status;
}

// Writes the lines that have arrived. Each has one write, so that lines of several processes do not mix.
void Job::forward(Stream& stream) {
  char text[1 << 16];
  const ssize_t length = read(stream.from, text, sizeof text);
  for (ssize_t i = 0; i < length; ++i) {
    stream.line += text[i];
    if (text[i] != '\n' && text[i] != '\r' && stream.line.size() < sizeof text) continue;
    write_all(stream.to, stream.label + std::exchange(stream.line, {}));
  }
  if (length == 0 || (length < 0 && errno != EINTR)) end(stream);
}

void Job::end(Stream& stream) {
  if (stream.from >= 0) close(std::exchange(stream.from, -1));
  if (!stream.line.empty()) write_all(stream.to, stream.label + std::exchange(stream.line, {}) + '\n');
}

// Waits for an event. Returns whether one of the outputs may have more.
bool Job::step(int milliseconds, int& launcher) {
  std::vector<pollfd> files = {{signals_, POLLIN, 0}, {launcher, POLLIN, 0}};
  for (const Stream& stream : streams_) files.push_back({stream.from, POLLIN, 0});
  const bool moved = poll(files.data(), files.size(), milliseconds) > 0;
  bool is_open = false;
  for (std::size_t i = 2; Stream & stream : streams_) {
    if (files[i++].revents != 0) forward(stream);
    is_open |= stream.from >= 0;
  }
  signalfd_siginfo info{};
  if (files[0].revents != 0 && read(signals_, &info, sizeof info) == sizeof info &&
      info.ssi_signo != SIGCHLD) {
    signal_ = static_cast<int>(info.ssi_signo);
    stop();
  }
  char unused = 0;
  if (files[1].revents != 0 && read(launcher, &unused, 1) <= 0) {
    launcher = -1;
    stop();
  }
  reap();
  end_alone();
  if (Clock::now() > kill_at_)
    for (const Process& each : processes_) kill(each.id, SIGKILL);
  return moved && is_open;
}

void Job::reap() {
  int status = 0;
  for (pid_t child = 0; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto process = std::find_if(processes_.begin(), processes_.end(),
                                      [child](const Process& each) { return std::abs(each.id) == child; });
    if (process == processes_.end()) continue;
    const Process ended = *process;
    processes_.erase(process);
    if (ended.input >= 0) close(ended.input);
    if (ended.id < 0) {
      kill(ended.id, SIGKILL);  // processes that the rank has started
      guard_.tell(ended.id);
    }
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code == 0 || is_stopping()) continue;
    status_ = code;
    stop();
    if (ended.rank.empty()) continue;
    char host[HOST_NAME_MAX + 1] = {};
    gethostname(host, sizeof host - 1);
    const std::string reason = WIFSIGNALED(status)
                                   ? ebb::detail::text("was ended by signal ", WTERMSIG(status), " (",
                                                       strsignal(WTERMSIG(status)), ")")
                                   : ebb::detail::text("ended with the exit status ", code);
    write_all(STDERR_FILENO, ebb::detail::text("ebb run: ", ended.rank, " on ", host, " ", reason, "\n"));
  }
}

// mpirun of Open MPI 4.1 can wait forever for a lock of its own when a rank dies early.
void Job::end_alone() {
  const auto now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + std::chrono::milliseconds(500);
  for (Process& each : processes_) {
    const bool has_child = each.id < 0 || has_living_child(each.id);
    each.had_child |= has_child;
    if (has_child || !each.had_child) {
      each.alone.reset();
    } else if (!each.alone) {
      each.alone = now;
    } else if (now > *each.alone + grace_) {
      write_all(STDERR_FILENO, "ebb run: the launcher does not end after its processes, and is killed\n");
      kill(each.id, SIGKILL);
    }
  }
}

void Job::stop() {
  if (is_stopping()) return;
  kill_at_ = Clock::now() + grace_;
  for (Process& each : processes_) {
    if (each.input >= 0) {
      close(std::exchange(each.input, -1));
    } else {
      kill(each.id, SIGTERM);
      kill(each.id, SIGCONT);
    }
  }
}

}  // namespace ebb::distributed::run
