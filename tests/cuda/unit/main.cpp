// Skips every case, with a count in CTest's summary, where there is no device.
#include <ebb/cuda/cuda.h>

#include "support/session.h"

#include <cstdlib>

int main(int argc, char** argv) {
  setenv("EBB_KERNEL_CACHE", "0", 0);  // nothing of a test stays behind
  return support::run_tests(argc, argv,
                            [] { return ebb::cuda::is_available() ? "" : "there is no CUDA device"; });
}
