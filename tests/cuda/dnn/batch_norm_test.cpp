// Batch norm with cuDNN: plans for the calls of ops, on a described device.
#include <ebb/core/deterministic.h>

#include "cuda/dnn/plans.h"
#include "support/catch.h"

#include <string>

using namespace ebb;
using namespace ebb::cuda;
using namespace ebb::cuda::dnn;

namespace {

struct Request {
  NdArray x, a_channel;
  float eps = 1e-5F;

  Request(const DimVector& sizes, DType dtype, std::uintptr_t address = 4096)
      : x(array(sizes, dtype, sizes.size() > 3, address)), a_channel(array({sizes[1]}, kFloat)) {}

  DnnBatchNorm forward() const {
    return {.in = x,
            .out = x,
            .mean = a_channel,
            .rstd = a_channel,
            .weight = a_channel,
            .bias = a_channel,
            .eps = eps};
  }
  DnnBatchNormBackward backward() const {
    return {.in = x,
            .dout = x,
            .mean = a_channel,
            .rstd = a_channel,
            .weight = a_channel,
            .din = x,
            .dweight = a_channel,
            .dbias = a_channel};
  }
};

// A plan requires a compiled kernel, so there are only a few cases of each kind.
struct Case {
  DimVector sizes;
  std::vector<DType> dtypes;
};
const Case kCases[] = {{{64, 256}, {kFloat, kBFloat16}},
                       {{32, 64, 28, 28}, {kFloat, kHalf, kBFloat16}},
                       {{4, 16, 8, 14, 14}, {kFloat, kHalf}},
                       {{1, 8, 1, 1}, {kBFloat16}}};

}  // namespace

TEST_CASE("channels-last batch norm has deterministic cuDNN plans") {
  use_deterministic_algorithms(true);
  for (const auto& [sizes, dtypes] : kCases)
    for (const DType dtype : dtypes) {
      INFO(IntArrayRef(sizes) << " in " << to_string(dtype));
      const Request request(sizes, dtype);
      const DnnBatchNorm norm = request.forward();
      const std::vector<Plan> forward = plans_of(task_of(norm)),
                              backward = plans_of(task_of(request.backward()));
      REQUIRE(forward.size() == 1);
      REQUIRE(backward.size() == 1);
      // The arrays are not transposed: that would need their own size and more.
      const std::int64_t bytes = request.x.numel() * element_size(dtype);
      CHECK((bytes < 1 << 20 || forward[0].workspace < bytes / 4));
      CHECK((bytes < 1 << 20 || backward[0].workspace < bytes / 4));
    }
  use_deterministic_algorithms(false);
}

TEST_CASE("batch norm has plans if the channels of one position take a multiple of 16 bytes") {
  for (const auto& [dtype, channels] :
       {std::pair{kFloat, 4}, std::pair{kFloat, 20}, std::pair{kBFloat16, 24}}) {
    const Request request({8, channels, 6, 6}, dtype);
    const DnnBatchNorm norm = request.forward();
    CHECK_FALSE(plans_of(task_of(norm)).empty());
    CHECK_FALSE(plans_of(task_of(request.backward())).empty());
  }
}

TEST_CASE("batch norm has plans for misaligned weights") {
  Request request({8, 64, 6, 6}, kHalf);
  request.a_channel = array({64}, kFloat, false, 4100);
  const DnnBatchNorm norm = request.forward();
  CHECK(task_of(norm).problem.alignment == 4);
  CHECK_NOTHROW(plans_of(task_of(norm)));
}

TEST_CASE("batch norm inputs with and without spatial dimensions of size 1 share a problem key") {
  const auto bytes = [](const Request& request) {
    const DnnBatchNorm norm = request.forward();
    const Problem p = task_of(norm).problem;
    return std::string(reinterpret_cast<const char*>(&p), sizeof(p));
  };
  CHECK(bytes({{64, 256}, kHalf}) == bytes({{64, 256, 1, 1}, kHalf}));
  CHECK(bytes({{64, 256}, kHalf}) != bytes({{64, 256}, kFloat}));
  CHECK(bytes({{64, 256, 2, 1}, kHalf}) != bytes({{64, 256, 1, 2}, kHalf}));
}

TEST_CASE("cuDNN accepts the variant pack of a batch norm plan") {
  const Request request({8, 64, 6, 6}, kHalf);
  const DnnBatchNorm norm = request.forward();
  const Task forward = task_of(norm);
  CHECK_NOTHROW(variant_pack(forward, nullptr));
  CHECK_NOTHROW(variant_pack(task_of(request.backward()), reinterpret_cast<void*>(8192)));
  // eps is read from memory of the caller.
  CHECK(*static_cast<const float*>(forward.memory.back()) == 1e-5F);
}
