// Descriptors themselves.
#include "cuda/nvidia/dnn/descriptor.h"
#include "support/catch.h"

#include <string>

using namespace ebb::cuda::dnn;

TEST_CASE("what cuDNN refuses comes with its own words") {
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  try {
    tensor.finalize();
    FAIL("a tensor without sizes was accepted");
  } catch (const Failure& f) {
    CHECK(std::string(f.what()).starts_with("cudnnBackendFinalize: CUDNN_STATUS_BAD_PARAM"));
    CHECK_FALSE(f.is_unsupported());
  }
}
