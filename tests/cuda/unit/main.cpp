// Skips every case, with a count in CTest's summary, where there is no device.
#define CATCH_CONFIG_RUNNER
#include "support/lists.h"

#include <ebb/core/random.h>
#include <ebb/cuda/cuda.h>

#include <cstdlib>
#include <iostream>

namespace {

// The same numbers in every run, whichever cases are chosen.
struct Seed : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo&) override { ebb::manual_seed(2026); }
};
CATCH_REGISTER_LISTENER(Seed)

}  // namespace

int main(int argc, char** argv) {
  setenv("EBB_KERNEL_CACHE", "0", 0);  // nothing of a test stays behind
  Catch::Session session;
  if (const int failure = session.applyCommandLine(argc, argv)) return failure;
  if (!support::only_lists(session) && !ebb::cuda::is_available()) {
    std::cout << "skipped: there is no CUDA device\n";
    return 77;
  }
  return session.run();
}
