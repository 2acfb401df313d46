// Skips all cases, with a count in CTest's summary, if there is no device.
#include <ebb/cuda/cuda.h>

#include "support/catch.h"

#include <cstdlib>

int main(int argc, char** argv) {
  setenv("EBB_KERNEL_CACHE", "0", 0);  // tests leave no files behind
  return support::run_tests(argc, argv,
                            [] { return ebb::cuda::is_available() ? "" : "there is no CUDA device"; });
}
