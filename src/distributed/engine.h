// Engine: runs the collectives of this process, in order and within their time limits.
#pragma once

#include <ebb/autograd/variable.h>

#include "distributed/transport.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace ebb::distributed::detail {

using Clock = std::chrono::steady_clock;

/// The state of a process group.
class Group {
 public:
  Group(int number, std::vector<int> members, int own, std::unique_ptr<Transport> connection)
      : id(number), ranks(std::move(members)), rank(own), transport(std::move(connection)) {}

  const int id;
  const std::vector<int> ranks;                // of the world
  const int rank;                              // of this process in the group, or -1
  const std::unique_ptr<Transport> transport;  // null if this process is not in the group
  std::atomic<std::int64_t> submitted{0};      // collectives
  std::atomic<Collective> last{Collective::barrier};
  std::int64_t messages = 0;  // sends and receives; guarded by the engine's mutex
  std::string failure;        // the first error, after which the group is unusable; guarded likewise
  struct Departure {
    std::int64_t last;  // the number of its last collective
    Clock::time_point at;
  };
  std::map<int, Departure> departed;  // ranks of the group that have left; the progress thread's
};

/// A collective from its submission to its end.
class Task {
 public:
  enum class State : std::uint8_t { queued, checking, running, done, failed };

  Request request;
  std::shared_ptr<Group> group;
  std::vector<Variable> tensors;  // own the memory of the request
  std::function<void()> finish;   // copies results to their tensors; the first wait() calls it
  std::string terms;              // what all ranks must agree on, in debug mode
  std::int64_t number = 0;        // counts from 1 in the group; sends and receives count separately
  Clock::time_point deadline;
  std::string all_terms;  // of all ranks, in the state checking
  std::unique_ptr<Operation> operation;
  std::string error;  // of the state failed
  std::atomic<State> state{State::queued};

  bool is_message() const { return request.kind == Collective::send || request.kind == Collective::receive; }
  bool has_ended() const { return state.load(std::memory_order_acquire) >= State::done; }
  /// Returns whether wait() need not wait on the host: the task has ended, or its result is ordered by an
  /// event.
  bool is_ready() const;
  /// Begins an error message: "all_reduce: rank 0 of 4, collective 17 of group 0".
  std::string name() const;
};

/// The engine of the process. A thread makes progress while the program computes; a thread that waits for a
/// collective makes progress itself, which saves the switches between threads.
class Engine {
 public:
  explicit Engine(const InitOptions& options);

  /// Returns the engine. Throws an error that names `function` without init().
  static Engine& get(const char* function);
  static bool is_started();
  static void start(const InitOptions& options);
  static void stop();

  bool debug() const { return debug_; }
  const std::string& backend() const { return backend_; }
  const std::shared_ptr<Group>& group(int id);
  std::shared_ptr<Group> add_group(const std::vector<int>& ranks);
  /// Throws if the group has failed. With `wakes`, the progress thread starts the task; otherwise the caller
  /// must call wait().
  void submit(const std::shared_ptr<Task>& task, bool wakes);
  /// Waits until task.is_ready().
  void wait(const Task& task);

 private:
  /// One inquiry after the ranks that are missing, when the time limit of a task is over.
  struct Inquiry {
    std::shared_ptr<Task> task;
    Clock::time_point until;
    std::map<int, Note> answers;  // rank of the group -> answer
  };

  void run();
  bool step();
  bool advance_all();
  bool advance(Task& task);
  static void gather_terms(Task& task);
  static void compare_terms(const Task& task);
  static void end(Task& task, Task::State state, std::string error = {});
  void fail(Group& group, const std::string& error, bool tell);
  void leave();

  // The notes between engines (notes.cpp).
  void check_limits(Clock::time_point now);
  void read_notes();
  std::string departed_before(const Task& task, Clock::time_point now) const;
  std::string missing_ranks(const Inquiry& inquiry) const;
  void post_to_members(const Group& group, const Note& note);

  const bool debug_;
  const std::chrono::milliseconds timeout_;
  std::string backend_;
  std::map<int, std::shared_ptr<Group>> groups_;  // guarded by mutex_
  std::vector<std::shared_ptr<Task>> queue_;      // guarded by mutex_
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<int> helpers_{0};  // threads in wait()
  std::atomic<bool> busy_{false}, stopping_{false};
  std::thread thread_;

  // Only a thread that holds progress_ uses the following, and the transports.
  std::mutex progress_;
  std::vector<std::shared_ptr<Task>> active_;
  std::vector<std::shared_ptr<Task>> abandoned_;  // failed, but the backend may still write to their memory
  std::map<int, Inquiry> inquiries_;              // by group
  Clock::time_point next_notes_;
};

}  // namespace ebb::distributed::detail
