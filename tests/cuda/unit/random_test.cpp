// Random numbers of a device.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/compare.h"

using namespace ebb;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

using support::same;

}  // namespace

TEST_CASE("manual_seed repeats a device's numbers") {
  const auto draw = [] {
    manual_seed(5);
    return std::vector<Tensor>{rand({100}, kOnCuda), randn({33}, kOnCuda.dtype(kDouble)),
                               randint(50, {20}, kOnCuda), randperm(30, kOnCuda),
                               dropout(ones({64}, kOnCuda), 0.3, true)};
  };
  const std::vector<Tensor> first = draw(), second = draw();
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(same(first[i], second[i]));
  CHECK_FALSE(same(rand({100}, kOnCuda), rand({100}, kOnCuda)));
}

TEST_CASE("a generator of one's own repeats itself too") {
  CHECK(same(randn({50}, Generator(3), kOnCuda), randn({50}, Generator(3), kOnCuda)));
  CHECK_FALSE(same(randn({50}, Generator(3), kOnCuda), randn({50}, Generator(4), kOnCuda)));
}

TEST_CASE("a device's draws leave the CPU's alone") {
  manual_seed(9);
  const Tensor expected = rand({4});
  manual_seed(9);
  rand({1000}, kOnCuda);
  CHECK(same(rand({4}), expected));
}

TEST_CASE("a device's numbers do not depend on where they are stored") {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt}) {
    INFO(to_string(dtype));
    const auto drawn = [&](Tensor to) {
      manual_seed(3);
      return is_floating(dtype) ? to.normal_() : to.random_(0, 1 << 20);
    };
    const TensorOptions options = kOnCuda.dtype(dtype);
    const Tensor expected = drawn(zeros({7, 9}, options));
    CHECK(same(drawn(zeros({9, 7}, options).t()), expected));
    CHECK(same(drawn(zeros({64}, options).slice(0, 1).view({7, 9})), expected));
    CHECK(same(drawn(zeros({7, 20}, options).slice(1, 0, 18, 2)), expected));
    CHECK(same(drawn(zeros({30}, options)), expected.flatten().slice(0, 0, 30)));
  }
}

TEST_CASE("coins on a device depend on their place alone") {
  constexpr std::int64_t n = (1 << 16) + 3;
  for (const DType dtype : {kFloat, kDouble, kBFloat16}) {
    INFO(to_string(dtype));
    const auto toss = [&](std::int64_t count, std::int64_t from) {
      manual_seed(8);
      return bernoulli(full({count + from}, 0.25, kOnCuda.dtype(dtype)).slice(0, from)).to(kDouble);
    };
    const Tensor all = toss(n, 0);
    CHECK(same(toss(101, 1), all.slice(0, 0, 101)));
    CHECK(bernoulli(zeros({9}, kOnCuda.dtype(dtype))).sum().item<double>() == 0);
    CHECK(bernoulli(ones({9}, kOnCuda.dtype(dtype))).sum().item<double>() == 9);
  }
}

TEST_CASE("permutations and draws without replacement hold everything once") {
  CHECK(same(std::get<0>(randperm(1000, kOnCuda).sort()), arange(1000)));
  const Tensor picked = multinomial(ones({5, 20}, kOnCuda), 20);
  CHECK(same(std::get<0>(picked.sort(1)), arange(20).expand({5, 20})));
}
