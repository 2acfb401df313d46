// Skips every case, with a count in CTest's summary, where there is no cuDNN or it refuses to work without a
// device.
#define CATCH_CONFIG_RUNNER
#include "cuda/dnn/described_device.h"
#include "support/lists.h"

#include <iostream>

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int failure = session.applyCommandLine(argc, argv)) return failure;
  if (support::only_lists(session)) return session.run();
  if (!ebb::cuda::dnn::find_library()) {
    std::cout << "skipped: there is no cuDNN\n";
    return 77;
  }
  try {
    ebb::cuda::dnn::described_device();
  } catch (const ebb::cuda::dnn::Failure& f) {
    std::cout << "skipped: " << f.what() << '\n';
    return 77;
  }
  return session.run();
}
