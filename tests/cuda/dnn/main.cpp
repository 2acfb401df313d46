// Skips all cases, with a count in CTest's summary, if there is no cuDNN or it refuses to work without a
// device.
#include "cuda/dnn/plans.h"
#include "support/catch.h"

namespace {

std::string obstacle() {
  if (!ebb::cuda::dnn::find_library()) return "there is no cuDNN";
  try {
    ebb::cuda::dnn::described_device();
  } catch (const ebb::cuda::dnn::Failure& f) {
    return f.what();
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) { return support::run_tests(argc, argv, obstacle); }
