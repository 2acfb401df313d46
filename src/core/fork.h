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
  ForkMutex *before_ = nullptr, *after_ = nullptr;  // in the list of all mutexes
};

/// The fork waits until no other thread holds the mutex, so the data that it protects is consistent in the
/// child. Only for short critical sections: the holder must not lock another mutex, nor create or destroy a
/// ForkMutex.
struct HeldAtFork final : ForkMutex {
  HeldAtFork() : ForkMutex(true) {}
};

/// The mutex is unlocked in the child, and the data that it protects is as the other threads left it. For
/// mutexes that are held while ops run.
struct OpenInChild final : ForkMutex {
  OpenInChild() : ForkMutex(false) {}
};

/// Returns the number of forks between the process that loaded this library and the current one.
int forks() noexcept;

}  // namespace ebb::detail
