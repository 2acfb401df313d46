// Job: processes that end together.
#pragma once

#include "distributed/run/plan.h"

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>

namespace ebb::distributed::run {

/// A process to start.
struct Command {
  Words words;        // the program and its arguments
  std::string rank;   // "rank 1 of 4"; empty: no rank, but a program that starts ranks
  std::string input;  // standard input, which ends at the request to end; empty: as of this process
  std::optional<std::string> label;  // begins each line of output; none: the output is that of this process
  std::function<void()> prepare;     // runs in the process
};

/// A process that waits for the end of this program, and then kills process groups. mpirun kills agents that
/// do not end in time. Without a guard, the processes that their ranks have started would stay.
class Guard {
 public:
  Guard() = default;
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// Starts the process, unless it has been started before.
  void start();
  /// Adds a process group, or removes the group -`group` that has ended.
  void tell(pid_t group) const;

 private:
  int pipe_ = -1;
};

/// Processes that end together. When one fails, or this program receives a signal that ends it, all get the
/// end of their input or SIGTERM, and after some time SIGKILL. The processes that a rank has started end
/// with it.
class Job {
 public:
  explicit Job(std::chrono::milliseconds grace);

  void start(const Command& command);
  /// Waits until all have ended. The end of the file `launcher` is a request to end, too. Returns the exit
  /// status of the first process that failed, or 128 + n if signal n has ended it or this program.
  int wait(int launcher = -1);
  bool is_interrupted() const { return signal_ != 0; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Process {
    pid_t id;  // negative for ranks, which have process groups of their own
    int input;
    std::string rank;
    bool had_child = false;
    std::optional<Clock::time_point> alone = {};  // since its last child ended
  };
  struct Stream {
    int from, to;  // from is negative after the end
    std::string label, line;
  };

  bool step(int milliseconds, int& launcher);
  void reap();
  /// Kills a launcher that stays for the grace time after its last child has ended.
  void end_alone();
  void stop();
  bool is_stopping() const { return kill_at_ != Clock::time_point::max(); }
  static void forward(Stream& stream);
  static void end(Stream& stream);

  const std::chrono::milliseconds grace_;
  sigset_t handled_{}, before_{};
  int signals_ = -1, status_ = 0, signal_ = 0;
  Clock::time_point kill_at_ = Clock::time_point::max(), next_look_;
  std::vector<Process> processes_;
  std::vector<Stream> streams_;
  Guard guard_;
};

}  // namespace ebb::distributed::run
