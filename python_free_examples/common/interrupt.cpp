// Ctrl-C: the signal handler.
#include "common/interrupt.h"

#include <atomic>
#include <csignal>

namespace example {

namespace {

std::atomic<bool> pressed = false;
static_assert(std::atomic<bool>::is_always_lock_free, "only such a flag may be set by a signal handler");

}  // namespace

void hear_interrupts() {
  struct sigaction before = {}, action = {};
  // A shell starts background programs with SIGINT ignored.
  if (sigaction(SIGINT, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  action.sa_handler = [](int) { pressed = true; };
  // The handler is used once, so the next Ctrl-C ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

void stop_if_interrupted() {
  if (pressed)
    throw Interrupted("stopped by Ctrl-C; there is no checkpoint, so the next run starts from the beginning");
}

}  // namespace example
