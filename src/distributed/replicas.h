// make_replicas and StateReceiver: tensors that all ranks have, and tensors that are sent to one rank.
#pragma once

#include <ebb/distributed/collectives.h>

namespace ebb::distributed::detail {

/// Copies the tensors of rank 0 to all ranks. Throws on all ranks if those of two ranks differ in number,
/// shape, dtype or requires_grad. `name` begins the error message: "VirtualShards: buffer".
void make_replicas(const char* name, const std::vector<Variable>& tensors, const ProcessGroup& group);

/// While it exists, only the rank `receiver` gets the states of all ranks from a ShardedOptimizer; others get
/// their own. Without it all ranks get all states, and with kNone all get their own.
class StateReceiver {
 public:
  static constexpr int kAll = -1, kNone = -2;
  explicit StateReceiver(int receiver) : before_(std::exchange(current(), receiver)) {}
  ~StateReceiver() { current() = before_; }
  StateReceiver(const StateReceiver&) = delete;
  static int& current();

 private:
  const int before_;
};

}  // namespace ebb::distributed::detail
