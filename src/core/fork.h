// Mutexes that a forked child can lock, whoever held them at the fork.
#pragma once

#include <mutex>

namespace ebb::detail {

/// A mutex of this library. A child starts with the mutexes as they are at the fork, without the threads that
/// hold them.
class ForkMutex : public std::mutex {
 protected:
  explicit ForkMutex(bool held);
  ~ForkMutex();

 private:
  static void before_fork();
  static void in_parent();
  static void in_child();

  const bool held_;
  ForkMutex *before_ = nullptr, *after_ = nullptr;  // in the list of all
};

/// The fork waits until no other thread holds it: what it guards is whole in the child. For locks of a
/// moment; who holds one locks no other, and makes and ends no ForkMutex.
struct HeldAtFork final : ForkMutex {
  HeldAtFork() : ForkMutex(true) {}
};

/// The child finds it open, and what it guards as the other threads left it. For locks that are held while
/// ops run.
struct OpenInChild final : ForkMutex {
  OpenInChild() : ForkMutex(false) {}
};

/// The number of forks between the process that loaded this library and this one.
int forks() noexcept;

}  // namespace ebb::detail
