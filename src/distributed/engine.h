// Engine: runs the collectives of this process, in order and within their time limits.
#pragma once

#include <ebb/autograd/variable.h>

#include "distributed/transport.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace ebb::distributed::detail {

using Clock = std::chrono::steady_clock;

/// The time within which an engine answers, unless its process is gone or stopped. An engine without work
/// reads its notes ten times a second.
constexpr std::chrono::seconds kAnswerTime{2};

/// The state of a process group.
class Group {
 public:
  /// `own` is the rank of this process in the world.
  Group(int number, std::vector<int> members, int own, std::unique_ptr<Transport> connection)
      : id(number), ranks(std::move(members)), rank(rank_of(own)), transport(std::move(connection)) {}
  int size() const { return static_cast<int>(ranks.size()); }
  /// Returns the rank in the group of a rank of the world, or -1.
  int rank_of(int member) const {
    const auto at = std::find(ranks.begin(), ranks.end(), member);
    return at == ranks.end() ? -1 : static_cast<int>(at - ranks.begin());
  }

  /// Returns a note with the last collective of this process in the group.
  Note report(Note::Kind kind) const;

  const int id;
  const std::vector<int> ranks;                // of the world
  const int rank;                              // of this process in the group, or -1
  const std::unique_ptr<Transport> transport;  // null if this process is not in the group
  std::atomic<std::int64_t> submitted{0};      // collectives
  std::atomic<Collective> last{Collective::barrier};
  std::int64_t messages = 0;  // sends and receives; guarded by the engine's mutex
  std::string failure;        // the first error, after which the group is unusable; guarded likewise

  /// The last answer of a member, or its departure.
  struct Report {
    Note note;
    Clock::time_point at;
    bool has_left() const { return note.kind == Note::Kind::left; }
  };
  // For the thread that makes progress:
  std::map<int, Report> reports;  // by rank in the group
};

/// A collective from its submission to its end.
class Task {
 public:
  enum class State : std::uint8_t { queued, running, ordered, done, failed };

  Request request;
  std::shared_ptr<Group> group;
  std::vector<Variable> tensors;  // own the memory of the request
  std::function<void()> finish;   // copies results to their tensors; the first wait() calls it
  std::string terms;              // what all ranks must agree on before the start; empty: not compared
  std::int64_t number = 0;        // counts from 1 in the group; sends and receives count separately
  Clock::time_point deadline;
  std::optional<Clock::time_point> asked;  // when the time limit was over: the time of the query
  std::unique_ptr<Operation> operation;
  std::string error;  // of the state failed
  std::atomic<State> state{State::queued};

  bool is_message() const { return request.kind == Collective::send || request.kind == Collective::receive; }
  bool has_ended() const { return state.load(std::memory_order_acquire) >= State::done; }
  /// Returns whether wait() need not wait on the host: the task has ended, or an event orders its result.
  bool is_ready() const { return state.load(std::memory_order_acquire) >= State::ordered; }
  /// Begins an error message: "distributed::all_reduce: rank 0 of 4, collective 17 of group 0: ".
  std::string name() const;
};

/// Returns an operation that first compares the terms of all ranks, and the parts that they send and receive.
/// It throws if they differ, and starts the collective otherwise.
std::unique_ptr<Operation> start_compared(const Task& task);

/// The engine of the process. A thread makes progress while the program computes; a thread that waits for a
/// collective makes progress itself, which saves the switches between threads.
class Engine {
 public:
  explicit Engine(const InitOptions& options);

  /// Returns the engine. Throws an error that names `function` without init().
  static Engine& get(const char* function);
  /// Ends the thread, and waits until all ranks have left, at most for the time limit. Returns whether
  /// nothing uses the engine any more.
  bool leave();

  bool debug() const { return debug_; }
  const std::string& backend() const { return backend_; }
  const std::shared_ptr<Group>& world() const { return world_; }
  std::shared_ptr<Group> add_group(const std::vector<int>& ranks);
  /// Throws if the group has failed. With `wakes`, the progress thread starts the task; otherwise the caller
  /// must call wait().
  void submit(const std::shared_ptr<Task>& task, bool wakes);
  /// Waits until task.is_ready().
  void wait(const Task& task);

 private:
  void run();
  bool step();
  void take_queue();
  bool advance_all();
  static bool advance(Task& task);
  /// Ends the tasks of the group from collective `number` on. Those before it may still end with a result.
  void fail(Group& group, const std::string& error, std::int64_t number);
  /// The same for a task of this rank. Tells the other ranks.
  void fail(const Task& task, const std::string& why);
  void abandon(const Group& group, std::int64_t number);
  /// Ends the failed groups whose earlier collectives have ended, or have had the time for that.
  void end_failed(Clock::time_point now);

  // The notes between engines (notes.cpp).
  void post_to_members(const Group& group, const Note& note);
  void read_notes();
  void check_limits(Clock::time_point now);
  std::string missing_ranks(const Task& task) const;

  const bool debug_;
  const std::chrono::milliseconds timeout_;
  std::string backend_;
  std::shared_ptr<Group> world_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Group>> groups_;  // by id; mutex_ guards this and the next four
  std::vector<std::shared_ptr<Task>> queue_;
  bool busy_ = false, stopping_ = false;
  int helpers_ = 0;  // threads in wait()
  std::thread thread_;

  // Only a thread that holds progress_ uses the following, and the transports.
  std::mutex progress_;
  std::vector<std::shared_ptr<Task>> active_;
  std::vector<std::pair<Group*, Clock::time_point>> failed_;  // with the time of the failure
  std::vector<std::shared_ptr<Task>> abandoned_;  // failed, but the backend may still write to their memory
  Clock::time_point next_notes_;
};

}  // namespace ebb::distributed::detail
