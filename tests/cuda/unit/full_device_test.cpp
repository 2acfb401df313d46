// A device that is full: an error with the figures, after which everything works again; and a device that a
// kernel has broken, whose every later call says so.
#include <ebb/ebb.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda/unit/real_device.h"
#include "support/catch.h"

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

// Takes memory in ever smaller pieces until there is none, and gives the last error's text.
std::string fill(std::vector<Tensor>& pieces) {
  std::string said;
  for (auto bytes = static_cast<std::int64_t>(cuda::get_device_properties().total_memory / 8);
       bytes >= (4 << 20);)
    try {
      pieces.push_back(empty({bytes}, kOnCuda.dtype(kByte)));
    } catch (const Error& error) {
      said = error.what();
      bytes /= 2;
    }
  return said;
}

}  // namespace

TEST_CASE("a full device says so and recovers", "[alone]") {
  const Tensor before = arange(1000, kOnCuda);
  before.sum().item();  // loads the kernel, for which a full device has no room
  std::vector<Tensor> pieces;
  CHECK_THAT(fill(pieces), Contains("out of memory") && Contains("MiB"));
  CHECK(pieces.size() >= 4);
  CHECK(before.sum().item<std::int64_t>() == 499500);  // what fits into what is cached still works
  pieces.clear();
  const Tensor large = zeros({std::int64_t{1} << 24}, kOnCuda);
  CHECK((large + 1).sum().item<float>() == static_cast<float>(1 << 24));
  cuda::empty_cache();
}

TEST_CASE("a backward that does not fit leaves the graph and the device usable", "[alone]") {
  const Tensor x = ones({std::int64_t{1} << 22}, kOnCuda).requires_grad_();
  std::vector<Tensor> pieces;
  Tensor y = (x * 3).exp().sum();
  fill(pieces);
  cuda::empty_cache();
  // Whether some cached block still serves the gradient depends on the device: both ends are fine, an odd
  // state is not.
  try {
    y.backward();
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("out of memory"));
  }
  pieces.clear();
  Tensor z = ones({8}, kOnCuda).requires_grad_();
  (z * z).sum().backward();
  CHECK(z.grad().sum().item<float>() == 16);
}

TEST_CASE("a capture on a full device ends with an error, and the next one works", "[alone]") {
  std::vector<Tensor> pieces;
  fill(pieces);
  cuda::empty_cache();
  cuda::Graph graph;
  CHECK_THROWS_WITH(graph.capture([] { zeros({std::int64_t{1} << 24}, kOnCuda); }),
                    Contains("out of memory"));
  pieces.clear();
  cuda::empty_cache();
  Tensor x = zeros({8}, kOnCuda);
  graph.capture([&] { x.add_(1); });
  graph.replay();
  CHECK(x.sum().item<float>() == 8);
}

// Leaves the device unusable for its process: hidden, to be run alone.
TEST_CASE("a kernel's illegal access is named by every call after it", "[.sticky]") {
  if (!is_real_device()) {
    WARN("the emulation dies of an illegal access");
    return;
  }
  const Tensor nowhere =
      from_blob(std::bit_cast<void*>(std::uintptr_t{0x10000}), {1024}, kOnCuda.dtype(kFloat));
  const auto check_illegal = [](const std::function<void()>& call) {
    CHECK_THROWS_WITH(call(), Contains("illegal memory access") && !Contains("out of memory"));
  };
  check_illegal([&] { (nowhere + 1).cpu(); });
  check_illegal([] { cuda::synchronize(); });
  check_illegal([] { ones({4}, kOnCuda).cpu(); });
  check_illegal([] { empty({std::int64_t{1} << 28}, kOnCuda); });  // asks the driver for a new segment
  // A library tells no more than that it failed.
  CHECK_THROWS_AS(matmul(empty({8, 8}, kOnCuda), empty({8, 8}, kOnCuda)).cpu(), Error);
  CHECK_THROWS_AS(cuda::Graph().capture([] { ones({4}, kOnCuda); }), Error);
}
