// start_thread: starts a thread of the library.
#pragma once

#include <ebb/core/error.h>

#include <system_error>
#include <utility>

namespace ebb::detail {

/// Returns a thread that runs f. `Thread` is std::thread; it is a template parameter, because the header
/// <thread> is long. If the system refuses the thread, throws an Error that begins with `who`.
template <class Thread, class F>
Thread start_thread(std::string_view who, F&& f) {
  try {
    return Thread(std::forward<F>(f));
  } catch (const std::system_error& error) {
    fail(who, ": the system refuses a thread (", error.what(),
         "). Use fewer threads at a time, or raise the limits of threads and of memory (ulimit -u, -v).");
  }
}

}  // namespace ebb::detail
