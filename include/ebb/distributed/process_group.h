// ProcessGroup, init and others: which processes compute together (torch.distributed).
#pragma once

#include <ebb/core/arg.h>
#include <ebb/core/error.h>

#include <condition_variable>  // declares durations; <chrono> also declares calendars and takes twice as long
#include <memory>
#include <string>
#include <vector>

namespace ebb::distributed {

namespace detail {
class Group;
class Task;
}  // namespace detail

/// The options of init().
struct InitOptions {
  InitOptions() = default;
  InitOptions(const char* backend) : backend_(backend) {}
  InitOptions(std::string backend) : backend_(std::move(backend)) {}
  /// "mpi", "nccl", or another name for which a plugin libebb_<name>.so exists. If a
  /// launcher has started several processes, "" selects the backend of `ebb run`, or else "mpi". Otherwise it
  /// selects "self", one process without any library.
  EBB_ARG(std::string, backend);
  /// The time limit of each collective. A collective that is not complete by then throws on all ranks.
  EBB_ARG(std::chrono::milliseconds, timeout) = std::chrono::minutes(30);
  /// Compares kind, dtype, shape, parts and order of each collective on all ranks before it runs, and throws
  /// on all ranks if they do not fit (torch: TORCH_DISTRIBUTED_DEBUG=DETAIL). Each collective then waits for
  /// the one before it. The environment variable EBB_DISTRIBUTED_DEBUG=1 turns it on, too.
  EBB_ARG(bool, debug) = false;
};

/// A list of processes that call the same collectives; a handle. A default-constructed handle means the group
/// of all processes, the world. Ranks of a group count from 0 in the order of its list.
class EBB_API ProcessGroup {
 public:
  ProcessGroup() = default;
  explicit ProcessGroup(std::shared_ptr<detail::Group> group) : group_(std::move(group)) {}

  /// Returns the rank of this process in the group, or -1 if the process is not in it.
  int rank() const;
  int size() const;
  /// Returns the ranks of the members in the world.
  std::vector<int> ranks() const;
  /// Returns "self", "mpi", "nccl", ...
  std::string backend() const;
  /// Returns a number that is equal on all ranks: 0 for the world, and then 1, 2, ... for new groups.
  int id() const;

  friend bool operator==(const ProcessGroup& a, const ProcessGroup& b) { return a.id() == b.id(); }
  /// Returns the group behind the handle. Throws if init() has not been called.
  const std::shared_ptr<detail::Group>& checked() const;

 private:
  std::shared_ptr<detail::Group> group_;
};

/// Joins the processes that a launcher started (torch.distributed.init_process_group). Reads the variables of
/// torchrun (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), Open MPI, PMI and Slurm. Without a
/// launcher the world is this process alone. All processes must call it once. Throws if it was called before,
/// if the backend is missing, and if the launcher and the backend disagree about the number of processes.
EBB_API void init(InitOptions options = {});
EBB_API bool is_initialized();
/// Leaves the world: waits until all ranks have left it, at most for the time limit, and ends the backend.
/// Collectives that are still running end with an error. The end of the program does the same. Does nothing
/// without init() (torch.distributed.destroy_process_group).
EBB_API void destroy_process_group();

/// Return the rank of this process, and the number of processes. Throw without init() (torch: get_rank,
/// get_world_size).
EBB_API int rank(const ProcessGroup& group = {});
EBB_API int world_size(const ProcessGroup& group = {});
inline int get_rank(const ProcessGroup& group = {}) { return rank(group); }
inline int get_world_size(const ProcessGroup& group = {}) { return world_size(group); }
/// Returns the rank among the processes of this machine, as the launcher states it, for the choice of a GPU;
/// 0 without a launcher. Works before init().
EBB_API int local_rank();

/// Returns a group of the given ranks of the world. Every process of the world must call it with the same
/// list, also those that are not in it (torch.distributed.new_group).
EBB_API ProcessGroup new_group(const std::vector<int>& ranks);

/// A collective that may still be running (torch.distributed.Work). A default-constructed Work is complete.
class EBB_API Work {
 public:
  Work() = default;
  explicit Work(std::shared_ptr<detail::Task> task) : task_(std::move(task)) {}

  /// Waits for the end, and writes the result where it does not arrive by itself (GPU tensors of "mpi",
  /// tensors that are not contiguous). Throws the error of the collective, at each call.
  void wait();
  /// Returns whether wait() would return or throw at once.
  bool is_completed() const;
  /// Returns the rank in the group from which recv() or irecv() received, after wait().
  int source_rank() const;

 private:
  std::shared_ptr<detail::Task> task_;
};

}  // namespace ebb::distributed
