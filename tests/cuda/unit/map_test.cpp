// Elementwise kernels over all loop variants of map_plan.h: both devices must agree bit for bit on operations
// that round once.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>

using namespace ebb;

namespace {

using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

// `of` computes with operands that are views of one array of 5000 elements, on either device.
void check(const std::function<Tensor(const Tensor&)>& of) {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt, kLong, kByte}) {
    INFO(to_string(dtype));
    const Tensor numbers = randint(0, 100, {5000}).to(dtype);
    const Tensor there = of(numbers.to(Device::CUDA));
    CHECK(there.is_cuda());
    CHECK(equal(there.cpu(), of(numbers)));
  }
}

Tensor take(const Tensor& numbers, std::int64_t start, std::int64_t count) {
  return numbers.slice(0, start, start + count);
}

}  // namespace

TEST_CASE("elementwise kernels handle any length and start") {
  for (const std::int64_t count : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 100, 1023, 2049})
    for (const std::int64_t start : {0, 1, 3, 8, 13}) {
      INFO(count << " from " << start);
      check([&](const Tensor& x) { return take(x, start, count) + take(x, start + 16, count); });
    }
}

TEST_CASE("elementwise kernels handle operands with different alignments") {
  check([](const Tensor& x) { return take(x, 0, 999) + take(x, 1, 999); });
  check([](const Tensor& x) { return take(x, 5, 999) * take(x, 2, 999) + take(x, 3, 999); });
}

TEST_CASE("elementwise kernels write to misaligned views") {
  check([](const Tensor& x) {
    Tensor out = x.clone();
    take(out, 3, 1000).add_(take(x, 7, 1000));
    take(out, 1111, 77).copy_(take(x, 0, 77));
    take(out, 2001, 500).fill_(7);
    return out;
  });
}

TEST_CASE("elementwise kernels broadcast a bias over rows and channels") {
  for (const std::int64_t columns : {1, 3, 4, 16, 31, 49, 64}) {
    INFO(columns << " columns");
    check(
        [&](const Tensor& x) { return take(x, 0, 9 * columns).view({9, columns}) + take(x, 1000, columns); });
    check([&](const Tensor& x) {
      return take(x, 0, 24 * columns).view({4, 6, columns}) + take(x, 1001, 6).view({6, 1});
    });
    check([&](const Tensor& x) {
      return take(x, 1, 24 * columns).view({4, 6, columns}) * take(x, 7, 4).view({4, 1, 1});
    });
    check([&](const Tensor& x) { return take(x, 0, 9).view({9, 1}) + take(x, 100, columns); });
  }
}

TEST_CASE("elementwise kernels handle slices and steps and transposes") {
  check([](const Tensor& x) {
    const Tensor m = take(x, 0, 4096).view({64, 64});
    return m.slice(1, 0, 32) + m.slice(1, 32, 64);
  });
  check([](const Tensor& x) {
    const Tensor m = take(x, 0, 4096).view({64, 64});
    return m.slice(1, 1, 32) + m.slice(1, 30, 61);
  });
  check([](const Tensor& x) { return take(x, 0, 3000).slice(0, 0, 3000, 3) + take(x, 1, 1000); });
  check([](const Tensor& x) {
    const Tensor m = take(x, 0, 4900).view({70, 70});
    return m + m.t();
  });
  check([](const Tensor& x) { return take(x, 0, 2400).view({2, 3, 4, 100}).permute({3, 1, 0, 2}) * 2; });
}

TEST_CASE("elementwise kernels handle large transposed operands") {
  // Rows that are multiples of vectors and tiles, and rows that are not.
  for (const auto& [rows, columns] : {std::pair(160, 112), std::pair(133, 125), std::pair(250, 64)})
    for (const DType dtype : {kFloat, kDouble, kHalf, kByte, kLong}) {
      INFO(to_string(dtype) << ", " << rows << " by " << columns);
      const Tensor a = randint(0, 100, {2, rows, columns}).to(dtype);
      const Tensor b = randint(0, 100, {2, columns, rows}).to(dtype), bias = a.slice(1, 0, 1);
      const auto compare = [&](const auto& op) {
        CHECK(equal(op(a.to(Device::CUDA), b.to(Device::CUDA), bias.to(Device::CUDA)).cpu(), op(a, b, bias)));
      };
      compare([](const Tensor& x, const Tensor& y, const Tensor&) { return x + y.transpose(1, 2); });
      compare([](const Tensor& x, const Tensor& y, const Tensor& z) {
        return where(y.transpose(1, 2) > 50, x, z);
      });
      compare([](const Tensor& x, const Tensor& y, const Tensor&) {
        return x.slice(2, 1) * y.transpose(1, 2).slice(2, 1);
      });
    }
  const Tensor image = randn({3, 24, 25, 23}),
               other = randn({3, 24, 25, 23}).contiguous(MemoryFormat::ChannelsLast);
  CHECK(equal((image.to(Device::CUDA) - other.to(Device::CUDA)).cpu(), image - other));
  CHECK(equal((other.to(Device::CUDA) - image.to(Device::CUDA)).cpu(), other - image));
}

TEST_CASE("elementwise kernels handle results and operands of different element sizes") {
  check([](const Tensor& x) { return take(x, 1, 1001) < take(x, 2, 1001); });
  check([](const Tensor& x) { return where(take(x, 1, 1001) > 50, take(x, 3, 1001), take(x, 1, 1001)); });
  check([](const Tensor& x) {
    return where(take(x, 1, 63) > 50, take(x, 0, 630).view({10, 63}), take(x, 3, 63));
  });
  for (const DType to : {kFloat, kDouble, kHalf, kByte, kBool, kLong})
    check([&](const Tensor& x) { return take(x, 5, 1001).to(to).to(kDouble); });
}
