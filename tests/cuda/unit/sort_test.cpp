// Sorting and selection on a device. Sort compares only the distinguishing bits of a key, and selection only
// some of the digits: order and indices must be those of the CPU.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <limits>
#include <tuple>

using namespace ebb;

namespace {

// Lines of n values, many of them equal, some special.
Tensor lines_of(DType dtype, std::int64_t lines, std::int64_t n) {
  if (!is_floating(dtype))
    return randint(dtype == kByte ? 0 : -90, dtype == kByte ? 256 : 90, {lines, n}, dtype);
  const Tensor x =
      (randn({lines, n}, kDouble) * 8).round() * randint(0, 2, {lines, n}).mul(99).add(0.01).to(kDouble);
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor special = tensor({0.0F, -0.0F, inf, -inf, NAN, 6e-8F, -6e-8F, NAN, 1.0F}).to(kDouble);
  if (n > 30) x.slice(0, 0, 1).slice(1, 17, 26).copy_(special.expand({1, 9}));
  if (lines > 1) x.slice(0, 1, 2).fill_(NAN);  // and one line with only NaN
  return x.to(dtype);
}

using Pair = std::tuple<Tensor, Tensor>;

template <class Op>
void check_picks(const Tensor& x, const Op& op) {
  const Pair expected = op(x), got = op(x.to(Device::CUDA));
  CHECK(equal(std::get<1>(got).cpu(), std::get<1>(expected)));
  CHECK(allclose(std::get<0>(got).cpu().to(kDouble), std::get<0>(expected).to(kDouble), 0, 0,
                 /*equal_nan=*/true));
}

}  // namespace

TEST_CASE("sort of all dtypes agrees with the CPU and is stable") {
  manual_seed(21);
  const Tensor numbers = randn({3, 4000}, kDouble) * (randn({3, 4000}, kDouble) * 4).exp();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor special = tensor({0.0F, -0.0F, inf, -inf, NAN, 6e-8F, -6e-8F, NAN, 1.0F}).to(kDouble);
  numbers.slice(1, 17, 26).copy_(special.expand({3, 9}));
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kByte, kBool, kInt, kLong}) {
    const Tensor x = is_floating(dtype) ? numbers.to(dtype)
                     : dtype == kBool   ? numbers > 0
                     : dtype == kByte   ? randint(256, {3, 4000}, dtype)
                                        : randint(-100000, 100000, {3, 4000}, dtype);
    for (const std::int64_t n : {1, 33, 400, 2000, 4000})
      for (const bool descending : {false, true}) {
        INFO(dtype << ", " << n << (descending ? ", descending" : ""));
        const Tensor line = x.slice(1, 0, n);
        const auto [values, places] = line.sort(/*stable=*/true, -1, descending);
        const auto [got, got_places] = line.to(Device::CUDA).sort(/*stable=*/true, -1, descending);
        CHECK(equal(got_places.cpu(), places));
        CHECK(allclose(got.cpu().to(kDouble), values.to(kDouble), 0, 0, /*equal_nan=*/true));
      }
    CHECK(equal(
        std::get<0>(unique_dim(x.slice(1, 100, 4000).contiguous().view({-1, 1}).to(Device::CUDA), 0)).cpu(),
        std::get<0>(unique_dim(x.slice(1, 100, 4000).contiguous().view({-1, 1}), 0))));
  }
}

TEST_CASE("topk and kthvalue agree with the CPU and select the first of equal elements") {
  manual_seed(22);
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kByte, kInt, kLong})
    // Selected by pairwise comparison, with one block, and with several blocks.
    for (const std::int64_t n : {1, 7, 128, 129, 1100, 8300}) {
      const bool cut = n > 8000;
      if (cut && (dtype == kDouble || dtype == kBFloat16 || dtype == kInt)) continue;
      const Tensor x = lines_of(dtype, cut ? 1 : 3, n);
      INFO(to_string(dtype) << ", lines of " << n);
      for (const std::int64_t k : {n / 2 + 1, n})
        check_picks(x, [&](const Tensor& t) { return t.kthvalue(k, 1); });
      check_picks(x, [&](const Tensor& t) { return t.median(1); });
      check_picks(x, [&](const Tensor& t) { return t.nanmedian(1); });
      check_picks(x, [&](const Tensor& t) { return t.topk(1, 1, /*largest=*/false); });
      for (const bool largest : {false, true})
        check_picks(x, [&](const Tensor& t) { return t.topk(n / 5, 1, largest); });
      if (!cut) check_picks(x, [&](const Tensor& t) { return t.topk(n, 1); });
    }
}

TEST_CASE("topk and kthvalue handle strided and misaligned rows") {
  manual_seed(23);
  for (const std::int64_t n : {20, 300, 8500}) {
    INFO(n);
    const Tensor x = lines_of(kFloat, 4, n), turned = x.t();
    const Tensor cube = lines_of(kHalf, 6, n).view({2, 3, n}).transpose(1, 2).contiguous();
    check_picks(turned, [](const Tensor& t) { return t.topk(5, 0); });
    check_picks(turned.contiguous(), [](const Tensor& t) { return t.topk(5, 0); });
    check_picks(cube, [](const Tensor& t) { return t.topk(3, 1, /*largest=*/false); });
    check_picks(cube, [](const Tensor& t) { return t.median(1); });
    check_picks(cube, [](const Tensor& t) { return t.kthvalue(4, 1, /*keepdim=*/true); });
    check_picks(x.slice(1, 3), [](const Tensor& t) { return t.median(1); });
  }
  const Tensor all = lines_of(kFloat, 1, 10001);
  CHECK(equal(all.nanmedian(), all.to(Device::CUDA).nanmedian().cpu()));
  CHECK(all.to(Device::CUDA).median().isnan().item<bool>());
}

TEST_CASE("topk and median can be captured in a graph") {
  const Tensor x = randn({2, 9000}, Device::CUDA);
  Tensor values, places, middle;
  const auto step = [&] {
    std::tie(values, places) = x.topk(6, 1);
    middle = std::get<0>(x.median(1));
  };
  step();
  cuda::Graph graph;
  graph.capture(step);
  for (int round = 0; round < 2; ++round) {
    const Tensor next = randn({2, 9000});
    x.copy_(next);
    graph.replay();
    const auto [expected, expected_places] = next.topk(6, 1);
    CHECK(equal(values.cpu(), expected));
    CHECK(equal(places.cpu(), expected_places));
    CHECK(equal(middle.cpu(), std::get<0>(next.median(1))));
  }
}
