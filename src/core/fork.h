// Mutexes that a forked child can lock, even if another thread held them at the fork.
#pragma once

#include <mutex>

namespace ebb::detail {

/// A mutex of this library. A forked child inherits the mutexes in their current state, but not the threads
/// that hold them.
class ForkMutex : public std::mutex {
 protected:
  explicit ForkMutex(bool held);
  ~ForkMutex();

 private:
  static void before_fork();
  static void in_parent();
  static void in_child();

  const bool held_;
  ForkMutex *before_ = nullptr, *after_ = nullptr;  // neighbours in the list of all mutexes
};

/// The fork handler locks this mutex before the fork, so the data that it protects is consistent in the
/// child. Use it only for short critical sections: the holder must not lock another mutex, nor create or
/// destroy a ForkMutex.
struct HeldAtFork final : ForkMutex {
  HeldAtFork() : ForkMutex(true) {}
};

/// A mutex for data that is used while ops run. It is unlocked in the child, and the data that it protects is
/// as the other threads left it.
struct OpenInChild final : ForkMutex {
  OpenInChild() : ForkMutex(false) {}
};

/// Returns the number of forks between the process that loaded this library and the current one.
int forks() noexcept;

}  // namespace ebb::detail
