// The list of all ForkMutex objects, and the fork handlers, which lock, unlock or reset these mutexes.
#include "core/fork.h"

#include <pthread.h>

namespace ebb::detail {
namespace {

constinit std::mutex listing;
constinit ForkMutex* first = nullptr;
constinit int forks_so_far = 0;

}  // namespace

ForkMutex::ForkMutex(bool held) : held_(held) {
  [[maybe_unused]] static const int told = ::pthread_atfork(before_fork, in_parent, in_child);
  const std::lock_guard lock(listing);
  after_ = first;
  if (first) first->before_ = this;
  first = this;
}

ForkMutex::~ForkMutex() {
  const std::lock_guard lock(listing);
  (before_ ? before_->after_ : first) = after_;
  if (after_) after_->before_ = before_;
}

void ForkMutex::before_fork() {
  listing.lock();
  for (ForkMutex* each = first; each; each = each->after_)
    if (each->held_) each->lock();
}

void ForkMutex::in_parent() {
  for (ForkMutex* each = first; each; each = each->after_)
    if (each->held_) each->unlock();
  listing.unlock();
}

void ForkMutex::in_child() {
  ++forks_so_far;
  for (ForkMutex* each = first; each; each = each->after_)
    if (!each->held_) ::pthread_mutex_init(each->native_handle(), nullptr);
  in_parent();
}

int forks() noexcept { return forks_so_far; }

}  // namespace ebb::detail
