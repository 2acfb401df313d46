// Index ops on a device: sums over equal indices in a fixed order, for rows and elements of all lengths.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <limits>

using namespace ebb;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

/// Restores the previous setting.
struct Deterministic {
  Deterministic() { use_deterministic_algorithms(true); }
  ~Deterministic() { use_deterministic_algorithms(false); }
};

double tolerance(DType dtype) {
  return dtype == kDouble ? 1e-12 : dtype == kFloat ? 1e-5 : dtype == kHalf ? 1e-2 : 6e-2;
}

/// Compares with the rounded result of the CPU in double.
void check(const Tensor& got, const Tensor& expected) {
  const Tensor wide = expected.cpu().to(kDouble);
  CHECK(allclose(got.cpu().to(kDouble), wide, tolerance(got.dtype()), tolerance(got.dtype()) * 10));
}

/// Indices below n with runs of all lengths: some span many windows of a sorted list.
Tensor skewed(std::int64_t count, std::int64_t n) {
  Tensor index = randint(n, {count}, kLong);
  index.slice(0, count / 4, count / 2).fill_(n / 2);
  index.slice(0, count / 2, count / 2 + count / 8).fill_(0);
  return index.index_select(0, randperm(count));
}

}  // namespace

TEST_CASE("index_add of rows on a device agrees with the CPU and is repeatable") {
  manual_seed(2);
  for (const bool deterministic : {false, true})
    for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
      for (const std::int64_t columns : {1, 3, 8, 64, 70, 128})
        for (const std::int64_t count : {1, 2, 31, 32, 33, 64, 65, 700}) {
          INFO(dtype << ", " << count << " rows of " << columns << (deterministic ? ", in order" : ""));
          const Tensor index = skewed(count, 9), values = randn({count, columns}, dtype) / 8;
          const Tensor start = randn({9, columns}, dtype);
          const Tensor expected = start.to(kDouble).index_add(0, index, values.to(kDouble));
          if (deterministic) use_deterministic_algorithms(true);
          const auto sum = [&] {
            Tensor out = start.to(Device::CUDA, dtype, false, /*copy=*/true);
            out.index_add_(0, index.to(Device::CUDA), values.to(Device::CUDA));
            return out;
          };
          const Tensor got = sum(), again = sum();
          use_deterministic_algorithms(false);
          check(got, expected);
          if (deterministic || columns >= 64) CHECK(equal(got.cpu(), again.cpu()));
        }
}

TEST_CASE("index ops on a device handle misaligned rows") {
  manual_seed(4);
  const Deterministic guard;
  const Tensor index = skewed(300, 7);
  for (const std::int64_t first : {0, 1, 3}) {
    const Tensor table = randn({7, 40}), values = randn({300, 41});
    Tensor on_cuda = table.to(Device::CUDA), on_cpu = table.clone();
    const auto cut = [&](const Tensor& t) { return t.slice(1, first, first + 33); };
    cut(on_cuda).index_put_({index.to(Device::CUDA)}, cut(values.to(Device::CUDA)), true);
    cut(on_cpu).index_put_({index}, cut(values), true);
    check(on_cuda, on_cpu);
    CHECK(equal(cut(on_cuda).index_select(0, index.to(Device::CUDA)).cpu(),
                cut(on_cuda.cpu()).index_select(0, index)));
    // The last of equal indices wins, as on the CPU.
    cut(on_cuda).index_put_({index.to(Device::CUDA)}, cut(values.to(Device::CUDA)));
    cut(on_cpu).index_put_({index}, cut(values));
    check(on_cuda, on_cpu);
    const Tensor across = on_cuda.t().index_select(0, tensor({5, 5, 1}, kLong).to(Device::CUDA));
    CHECK(equal(across.cpu(), on_cuda.cpu().t().index_select(0, tensor({5, 5, 1}, kLong))));
  }
}

TEST_CASE("index ops on a device add elements in order") {
  manual_seed(6);
  const Deterministic guard;
  for (const DType dtype : {kFloat, kDouble, kHalf}) {
    INFO(dtype);
    const Tensor index = skewed(2000, 11), values = randn({2000}, dtype) / 16;
    const auto both = [&](const auto& op) {
      const Tensor got = op(Device::CUDA, dtype);
      check(got, op(Device::CPU, kDouble));
      CHECK(equal(got.cpu(), op(Device::CUDA, dtype).cpu()));
    };
    both([&](Device device, DType t) {
      return ones({11}, t).to(device).scatter_add(0, index.to(device), values.to(device, t));
    });
    both([&](Device device, DType t) {
      return ones({11}, t).to(device).scatter_reduce(0, index.to(device), 1 + values.to(device, t) / 64,
                                                     "prod");
    });
    both([&](Device device, DType t) {
      return ones({11}, t).to(device).scatter_reduce(0, index.to(device), values.to(device, t), "amax",
                                                     false);
    });
    both([&](Device device, DType t) {
      return ones({11}, t).to(device).scatter_reduce(0, index.to(device), values.to(device, t), "mean");
    });
    both([&](Device device, DType t) {
      return zeros({11}, t).to(device).scatter(0, index.to(device), values.to(device, t));  // the last wins
    });
    both([&](Device device, DType t) {  // many short lines, and a source with gaps
      const Tensor where = (arange(200, kLong) % 3).view({2, 100}).to(device);
      return zeros({3, 100}, t)
          .to(device)
          .scatter_add(0, where, values.to(device, t).slice(0, 0, 400, 2).view({2, 100}));
    });
    both([&](Device device, DType t) {  // a few long lines
      const Tensor where = index.view({2, 1000}).to(device);
      return zeros({2, 11}, t).to(device).scatter_add(1, where, values.to(device, t).view({2, 1000}));
    });
  }
  const Tensor whole =
      zeros({5}, kOnCuda.dtype(kLong))
          .index_add(0, zeros({100}, kOnCuda.dtype(kLong)), ones({100}, kOnCuda.dtype(kLong)));
  CHECK(whole[0].item<std::int64_t>() == 100);
  CHECK_THROWS_AS(
      zeros({5}, kOnCuda).scatter_add(0, full({100}, 5, kOnCuda.dtype(kLong)), ones({100}, kOnCuda)).cpu(),
      IndexError);
}

TEST_CASE("sums of many repeated indices on a device are accurate and repeatable") {
  const Deterministic guard;
  // A sequential sum of that many terms would lose digits, because each is added to a sum that is thousands
  // of times larger. Here no level adds more than 32 terms.
  for (const std::int64_t count : {32, 33, 1024, 1025, 32768, 32800, 200'003}) {
    INFO(count << " elements in one place");
    const Tensor index = full({count}, 2, kLong).to(Device::CUDA),
                 values = full({count}, 0.1, kOnCuda.dtype(kFloat));
    const Tensor got = zeros({5}, kOnCuda).index_put({index}, values, true);
    const double expected = static_cast<double>(count) * static_cast<double>(0.1F);
    CHECK(got.cpu()[2].item<float>() == Approx(expected).epsilon(2e-6));
    CHECK(got.cpu().ne(0).sum().item<std::int64_t>() == 1);
    CHECK(equal(got.cpu(), zeros({5}, kOnCuda).index_put({index}, values, true).cpu()));
  }
}

TEST_CASE("sums over runs of equal indices on a device are correct for all boundaries of the runs") {
  const Deterministic guard;
  manual_seed(12);
  for (int round = 0; round < 12; ++round) {
    // Runs of all lengths, so that they start, end and cross the boundaries of every level.
    std::vector<std::int64_t> places;
    while (places.size() < 5000) {
      const auto bits = randint(12, {1}, kLong).item<std::int64_t>();
      const auto run = randint((std::int64_t{1} << bits) + 1, {1}, kLong).item<std::int64_t>();
      places.insert(places.end(), static_cast<std::size_t>(run),
                    static_cast<std::int64_t>(places.size() % 97));
    }
    const auto count = static_cast<std::int64_t>(places.size());
    const Tensor index = tensor(places, kLong), whole = randint(100, {count, 20}, kLong).to(kDouble);
    const Tensor expected = zeros({97, 20}, kDouble).index_add(0, index, whole);
    const Tensor got =
        zeros({97, 20}, kOnCuda.dtype(kDouble)).index_add(0, index.to(Device::CUDA), whole.to(Device::CUDA));
    CHECK(equal(got.cpu(), expected));
    const Tensor last =
        zeros({97, 20}, kOnCuda.dtype(kDouble)).index_put({index.to(Device::CUDA)}, whole.to(Device::CUDA));
    CHECK(equal(last.cpu(), zeros({97, 20}, kDouble).index_put({index}, whole)));
  }
}

TEST_CASE("the first index after the range and the last index before it throw on a device") {
  const Tensor rows = ones({4, 8}, kOnCuda);
  const auto at = [](std::int64_t i) { return full({2}, i, kOnCuda.dtype(kLong)); };
  for (const std::int64_t i : {4, -5}) {
    CHECK_THROWS_AS(rows.index({at(i)}).cpu(), IndexError);
    CHECK_THROWS_AS(rows.clone().index_put_({at(i)}, ones({2, 8}, kOnCuda)).cpu(), IndexError);
    CHECK_THROWS_AS(rows.index_select(0, at(i)).cpu(), IndexError);
    CHECK_THROWS_AS(rows.take(at(i < 0 ? -33 : 32)).cpu(), IndexError);
  }
  CHECK_NOTHROW(rows.index({at(3)}).cpu());
  CHECK_NOTHROW(rows.index({at(-4)}).cpu());
}

TEST_CASE("gather on a device with an expanded index agrees with the CPU") {
  manual_seed(8);
  for (const DType dtype : {kFloat, kDouble, kHalf, kByte}) {
    const Tensor x = randint(100, {5, 6, 37}, dtype), rows = randint(6, {5, 4, 1}, kLong);
    const Tensor a = x.gather(1, rows.expand({5, 4, 37}));
    const Tensor b = x.to(Device::CUDA).gather(1, rows.to(Device::CUDA).expand({5, 4, 37}));
    CHECK(equal(a, b.cpu()));
    const Tensor odd = x.to(Device::CUDA).slice(2, 1, 34);
    CHECK(equal(odd.gather(1, rows.to(Device::CUDA).expand({5, 4, 33})).cpu(), a.slice(2, 1, 34)));
  }
  const Tensor far = full({2, 1}, 9, kOnCuda.dtype(kLong)).expand({2, 16});
  CHECK_THROWS_AS(ones({4, 16}, kOnCuda).gather(0, far).cpu(), IndexError);
}

TEST_CASE("the embedding gradient on a device is bitwise repeatable") {
  manual_seed(9);
  for (const DType dtype : {kFloat, kHalf})
    for (const bool by_frequency : {false, true}) {
      const Tensor index = skewed(600, 13).view({20, 30}), grad = randn({20, 30, 96}, dtype) / 32;
      const auto gradient = [&](Device device, DType t) {
        Tensor table = zeros({13, 96}, t).to(device).requires_grad_();
        embedding(table, index.to(device), /*padding_idx=*/6, by_frequency).backward(grad.to(device, t));
        return table.grad();
      };
      const Tensor got = gradient(Device::CUDA, dtype);
      check(got, gradient(Device::CPU, kDouble));
      CHECK(equal(got.cpu(), gradient(Device::CUDA, dtype).cpu()));
      CHECK(got[6].abs().sum().item<float>() == 0);
    }
}
