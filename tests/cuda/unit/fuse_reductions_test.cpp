// Fused reductions on a device. Most values are integers, so that the order of summation does not change the
// result.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "cuda/unit/fused.h"
#include "support/catch.h"

#include <cmath>

using namespace ebb;
using namespace ebb::fused;

namespace {

constexpr std::int64_t kPartial = 8 * 1024;  // maximum bytes of the partial results of a reduction

}  // namespace

TEST_CASE("full sums are fused with their chain on a device") {
  // One piece, several pieces, pieces of full and of partial thread groups.
  const std::int64_t n = GENERATE(as<std::int64_t>{}, 1, 3, 1030, 8192, 70001);
  const DType dtype = GENERATE(kFloat, kDouble, kHalf, kBFloat16, kInt, kLong);
  INFO(n << " of " << dtype);
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        const Tensor y = x[0] * x[1] - x[2], above = y > x[2];
        const Tensor mean = y.is_floating_point() ? y.mean() : y.sum();
        return Tensors{mean, y.sum(), above.sum(), x[1].sum()};
      },
      whole({n}, dtype));
  CHECK(report.captured);
  CHECK(report.fused == report.operations);
  CHECK(report.arena_bytes <= 4 * kPartial);  // the summed values are not stored
}

TEST_CASE("a value that a fused chain on a device sums may have other consumers") {
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        const Tensor y = x[0] * x[1], z = y + x[2];
        const Tensor sum = z.sum(), all = y.sum();
        return Tensors{z, sum, all, y.reshape({5, 1001}).t() * 2};
      },
      whole({5005}));
  CHECK(report.fused == 4);
}

TEST_CASE("a fused sum on a device uses the values before later in-place writes") {
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        Tensor y = x[0] * x[1];
        const Tensor before = y.sum();
        y.mul_(2).sub_(x[1]);
        const Tensor squares = (y * y).sum();
        return Tensors{before, squares, y.sum(), y};
      },
      whole({5005}));
  CHECK(report.fused == report.operations);
}

TEST_CASE("row reductions are fused with their chain on a device") {
  using Sizes = std::vector<std::int64_t>;
  const Sizes sizes = GENERATE(Sizes{7, 33}, Sizes{300, 64}, Sizes{5, 3, 1001}, Sizes{2, 20001},
                               Sizes{513, 16}, Sizes{4, 1, 50, 1});
  const DType dtype = GENERATE(kFloat, kHalf, kDouble);
  INFO(IntArrayRef(sizes) << " of " << dtype);
  SECTION("the reduction is over the last dimension") {
    const std::int64_t last = sizes.back() == 1 ? -2 : -1;
    const CompileReport report = require_twin(
        [&](const Tensors& x) {
          const Tensor y = x[0] * x[1], z = y.abs();
          return Tensors{y.sum(last), z.amax({last}), z.mean(last, true)};
        },
        whole(sizes, dtype, 2));
    CHECK(report.fused == report.operations);
    CHECK(report.arena_bytes <= 3 * kPartial);
  }
  SECTION("the reduction is over all dimensions but the first") {
    Sizes inner;
    for (std::size_t d = 1; d < sizes.size(); ++d) inner.push_back(static_cast<std::int64_t>(d));
    const CompileReport report = require_twin(
        [&](const Tensors& x) {
          const Tensor y = x[0] - x[1];
          return Tensors{y, y.sum(inner)};
        },
        whole(sizes, dtype, 2));
    CHECK(report.fused == 2);
  }
}

TEST_CASE("column reductions are fused with their chain on a device") {
  using Sizes = std::vector<std::int64_t>;
  // Few rows, many rows, columns that are multiples of a vector and not, more than one tile of columns.
  const Sizes sizes = GENERATE(Sizes{7, 33}, Sizes{300, 64}, Sizes{3, 5, 1002}, Sizes{20001, 8},
                               Sizes{2, 4099}, Sizes{2000, 1, 50});
  const DType dtype = GENERATE(kFloat, kHalf, kDouble);
  INFO(IntArrayRef(sizes) << " of " << dtype);
  Sizes outer;
  for (std::size_t d = 0; d + 1 < sizes.size(); ++d) outer.push_back(static_cast<std::int64_t>(d));
  const CompileReport report = require_twin(
      [&](const Tensors& x) {
        const Tensor y = x[0] * x[1], z = y.abs();
        return Tensors{y.sum(outer), z.amax(outer), z.mean(outer, true), x[1].sum(outer), z};
      },
      whole(sizes, dtype, 2));
  CHECK(report.fused == report.operations);
  CHECK(report.arena_bytes <= 4 * 8 * kPartial);
}

TEST_CASE("bias gradients are fused with activation gradients on a device") {
  const auto step = [](const Tensors& x) {
    const Tensor w = x[1].detach().requires_grad_(), b = x[2].detach().requires_grad_();
    const Tensor y = tanh(nn::functional::linear(x[0].detach().requires_grad_(), w, b));
    const Tensors gradients = autograd::grad({y}, {w, b}, {x[3]});
    return Tensors{gradients[0], gradients[1]};
  };
  const auto make = [] {
    const auto on = [](std::vector<std::int64_t> sizes) { return (rand(sizes) * 2 - 1).to(Device::CUDA); };
    return Tensors{on({64, 20}), on({30, 20}), on({30}), on({64, 30})};
  };
  const CompileReport report = require_twin(step, make, {}, [](const Tensor& a, const Tensor& b) {
    return allclose(a.cpu(), b.cpu(), 1e-5, 1e-6);
  });
  CHECK(report.fused == 3);  // tanh, its gradient, the sum
}

TEST_CASE("every reduction on a device can end a fused chain") {
  const DType dtype = GENERATE(kFloat, kDouble, kHalf, kBFloat16);
  const bool special = GENERATE(false, true);
  INFO(dtype << (special ? " with NaN and infinity" : ""));
  const std::int64_t n = 2100;
  const auto make = [&] {
    Tensors x = whole({2, n}, dtype, 2)();
    if (special) {
      x[0][0][5] = std::nan("");
      x[0][1][n - 1] = INFINITY;
    }
    return x;
  };
  const auto require_fused = [&](const std::function<Tensors(const Tensor&)>& reduce, int casts = 0) {
    const CompileReport report =
        require_twin([&](const Tensors& x) { return reduce((x[0] + x[1]).clamp(-2, 2)); }, make);
    CHECK(report.fused == report.operations - casts);
  };
  require_fused([](const Tensor& x) { return Tensors{x.sum(), x.nansum(), x.amax(), x.amin(), x.prod()}; });
  require_fused(
      [](const Tensor& x) { return Tensors{x.sum(1), x.nansum(1), x.amax({1}), x.amin({1}), x.prod(1)}; });
  require_fused([](const Tensor& x) { return Tensors{x.any(), x.all(), x.count_nonzero()}; });
  const bool rounded = dtype == kHalf || dtype == kBFloat16;  // norms are computed in float and cast
  require_fused(
      [](const Tensor& x) {
        Tensors norms;
        for (const double p : {0., 1., 2., 3., HUGE_VAL, -HUGE_VAL}) norms.push_back(x.norm(p));
        return norms;
      },
      rounded ? 6 : 0);
  require_fused([](const Tensor& x) { return Tensors{x.norm(2, {1}), x.norm(1, {1})}; }, rounded ? 2 : 0);
}

TEST_CASE("integer and bool reductions can end a fused chain on a device") {
  const DType dtype = GENERATE(kByte, kShort, kInt, kLong);
  INFO(dtype);
  const auto make = whole({3, 40}, dtype, 2);
  const CompileReport whole_sums = require_twin(
      [](const Tensors& x) {
        const Tensor y = x[0] + x[1];
        return Tensors{y.sum(), y.prod(), y.amax(), y.amin(), y.count_nonzero()};
      },
      make);
  CHECK(whole_sums.fused >= 5);
  const CompileReport truth = require_twin(
      [](const Tensors& x) {
        const Tensor above = x[0] > x[1];
        return Tensors{above.sum(), above.any(), above.all(), above.count_nonzero()};
      },
      make);
  CHECK(truth.fused >= 4);
  const CompileReport rows = require_twin(
      [](const Tensors& x) {
        const Tensor y = x[0] + x[1];
        return Tensors{y.amax({1}), y.amin({1}), (x[0] > x[1]).any(1)};
      },
      make);
  CHECK(rows.fused >= 4);
}

TEST_CASE("fused row reductions on a device handle misaligned rows") {
  const std::int64_t n = GENERATE(as<std::int64_t>{}, 2, 5, 261, 9001);
  const DType dtype = GENERATE(kFloat, kHalf);
  INFO(n << " of " << dtype);
  const auto part = [n](const Tensor& x, std::int64_t from) { return x.narrow(0, from, n); };
  const CompileReport report = require_twin(
      [&](const Tensors& x) {
        const Tensor y = part(x[0], 1) * part(x[1], 3) + part(x[2], 1);
        return Tensors{y.sum(), y};
      },
      whole({n + 4}, dtype));
  CHECK(report.fused == 3);
}

TEST_CASE("reductions that cannot be fused on a device are separate calls") {
  SECTION("the reduction is over a middle dimension") {
    const CompileReport report =
        require_twin([](const Tensors& x) { return Tensors{(x[0] * x[1]).sum(1)}; }, whole({8, 16, 32}));
    CHECK(report.fused == 0);
  }
  SECTION("there are few columns") {
    const CompileReport report =
        require_twin([](const Tensors& x) { return Tensors{(x[0] * x[1]).sum(0)}; }, whole({64, 7}));
    CHECK(report.fused == 0);
  }
  SECTION("the rows are short") {
    const CompileReport report =
        require_twin([](const Tensors& x) { return Tensors{(x[0] * x[1]).sum(1)}; }, whole({64, 15}));
    CHECK(report.fused == 0);
  }
  SECTION("two reductions have rows of different length") {
    const CompileReport report = require_twin(
        [](const Tensors& x) {
          const Tensor y = x[0] * x[1];
          return Tensors{y.sum(), y.sum(1)};
        },
        whole({64, 32}));
    CHECK(report.fused == 2);
  }
  SECTION("the reduction is over a transposed view") {
    const CompileReport report = require_twin(
        [](const Tensors& x) {
          const Tensor y = x[0] * x[1];
          return Tensors{y, y.t().sum(1)};
        },
        whole({64, 32}));
    CHECK(report.fused == 0);
  }
  SECTION("later elementwise calls use the result") {
    const CompileReport report = require_twin(
        [](const Tensors& x) {
          const Tensor y = x[0] * x[1], sum = y.sum();
          return Tensors{(y - sum) * sum};
        },
        whole({64, 32}));
    CHECK(report.fused == 4);
  }
  SECTION("the input is empty") {
    const CompileReport report =
        require_twin([](const Tensors& x) { return Tensors{(x[0] * x[1] + x[2]).sum()}; }, whole({0}));
    CHECK(report.fused == 0);
  }
  SECTION("there are more reductions than a kernel can have") {
    const CompileReport report = require_twin(
        [](const Tensors& x) {
          const Tensor y = x[0] * x[1];
          Tensors sums;
          for (int i = 0; i < 11; ++i) sums.push_back(y.sum());
          return sums;
        },
        whole({64}));
    CHECK(report.fused == 9);
  }
}

TEST_CASE("fused sums are correct for more elements than one pass of the grid") {
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        return Tensors{((x[0] - x[1]) * x[0]).to(kDouble).sum(), (x[0] - x[1]).abs().sum()};
      },
      whole({4500007}, kFloat, 2));
  CHECK(report.fused >= 3);
}

// Each element passes through few additions in sequence: this is the bound of docs/compile.md.
TEST_CASE("the error of fused sums on a device is within the bound for their order of summation") {
  const std::int64_t n = GENERATE(as<std::int64_t>{}, 100, 5000, 300000);
  const auto f = [](const Tensors& x) {
    const Tensor y = x[0] + x[1];
    return Tensors{y.sum(), y.abs().sum()};
  };
  auto compiled = compile(f);
  for (int t = 0; t < 4; ++t) {
    const Tensors x = uniform(n, kFloat, 2)(), got = compiled(x);
    const Tensor y = (x[0] + x[1]).to(kDouble);
    const double bound = (static_cast<double>(n) / (1 << 18) + 30) * 0x1p-24 * y.abs().sum().item<double>();
    CHECK(std::abs(got[0].item<double>() - y.sum().item<double>()) <= bound);
  }
  CHECK(compiled.report().fused == 4);
}

TEST_CASE("the error of a fused sum of where() with a Byte mask is within the bound") {
  const std::int64_t n = GENERATE(as<std::int64_t>{}, 62, 1000000);
  auto compiled = compile([](const Tensor& mask) { return where(mask, 0.1, 0.2).sum(); });
  const Tensor mask = (rand({n + 1}) < 0.5).to(Device::CUDA).narrow(0, 1, n);
  const double yes = mask.sum().item<double>(), no = static_cast<double>(n) - yes;
  const double exact = yes * static_cast<double>(0.1f) + no * static_cast<double>(0.2f);
  const double bound = (static_cast<double>(n) / (1 << 18) + 30) * 0x1p-24 * exact;
  for (int t = 0; t < 4; ++t) CHECK(std::abs(compiled(mask).item<double>() - exact) <= bound);
  CHECK(compiled.report().fused == 2);
}

TEST_CASE("a fused sum on a device is bitwise equal in all replays") {
  auto compiled = compile([](const Tensor& x) { return (x * x).sum(); });
  const Tensor x = uniform(100000)()[0];
  Tensors sums;
  for (int t = 0; t < 6; ++t) sums.push_back(compiled(x).clone());
  REQUIRE(compiled.report().fused == 2);
  for (int t = 3; t < 6; ++t) CHECK(equal(sums[static_cast<std::size_t>(t)], sums[5]));
}

TEST_CASE("a handwritten loss and its gradients are fused on a device") {
  const auto step = [](const Tensors& x) {
    Tensor w = x[1].detach().requires_grad_();
    const Tensor difference = x[0].matmul(w) - x[2];
    const Tensor loss = (difference * difference).mean();
    return Tensors{loss.detach(), autograd::grad({loss}, {w})[0]};
  };
  const auto make = [] {
    const auto on = [](std::vector<std::int64_t> sizes) { return (rand(sizes) * 2 - 1).to(Device::CUDA); };
    return Tensors{on({64, 20}), on({20, 30}), on({64, 30})};
  };
  const CompileReport report = require_twin(step, make, {}, [](const Tensor& a, const Tensor& b) {
    return allclose(a.cpu(), b.cpu(), 1e-5, 1e-6);
  });
  CHECK(report.captured);
  CHECK(report.fused >= 4);
}

TEST_CASE("a loss and its gradients on a device are one kernel without temporaries") {
  const std::int64_t n = 10007;
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        const Tensor y = x[0].detach().requires_grad_();
        const Tensor difference = y - x[1];
        const Tensor loss = (difference * difference * x[2]).sum() / 4;
        return Tensors{loss.detach(), autograd::grad({loss}, {y})[0]};
      },
      whole({n}));
  CHECK(report.captured);
  CHECK(report.arena_bytes <= kPartial);
}

TEST_CASE("fused kernels on a device read a scalar tensor with its value at that point of the program") {
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        Tensor number = x[0][0] * 2;
        const Tensor y = x[1] * number, sum = y.sum(), half = sum / 2;
        number.add_(1);
        const Tensor z = y + number, other = number * 3, none = full({}, 5.0, number.options());
        const Tensor last = z * none, seven = none + 2;
        number.mul_(other);
        return Tensors{last, half, half + 1, number, seven, other};
      },
      whole({100}));
  CHECK(report.fused >= 4);
}

TEST_CASE("reductions on a device are not fused if fusion is disabled") {
  const auto f = [](const Tensors& x) { return Tensors{(x[0] + x[1]).sum()}; };
  CHECK(require_twin(f, whole({10})).fused == 2);
  SECTION("fusion is disabled by an option") {
    CompileOptions options;
    options.fuse = false;
    CHECK(require_twin(f, whole({10}), options).fused == 0);
  }
  SECTION("deterministic algorithms are required") {
    const testing::Deterministic scope;
    CHECK(require_twin(f, whole({10})).fused == 0);
  }
}
