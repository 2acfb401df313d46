// Compares functions on a device, eager and replayed with fusion.
#pragma once

#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/catch.h"

#include <functional>
#include <vector>

namespace ebb::fused {

using Tensors = std::vector<Tensor>;

inline bool same(const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().cpu(), y = b.detach().cpu();
  if (!x.is_floating_point()) return equal(x, y);
  const double tolerance = x.dtype() == kDouble ? 1e-13 : 1e-5;
  if (is_real_device()) return allclose(x, y, tolerance, tolerance, true);
  return equal(x.isnan(), y.isnan()) && equal(x.nan_to_num(), y.nan_to_num()) &&
         equal(x.signbit(), y.signbit());
}

// Compares eager results of `f` with those of its replays.
inline CompileReport require_twin(const std::function<Tensors(const Tensors&)>& f,
                                  const std::function<Tensors()>& make, const CompileOptions& options = {},
                                  bool (*agree)(const Tensor&, const Tensor&) = &same) {
  auto compiled = compile(f, options);
  for (int t = 0; t < 6; ++t) {
    const Tensors numbers = make(), expected = f(numbers), got = compiled(numbers);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO("call " << t << ", result " << i);
      REQUIRE(got[i].dtype() == expected[i].dtype());
      REQUIRE(agree(got[i], expected[i]));
    }
  }
  const CompileReport report = compiled.report();
  INFO(report.reason);
  REQUIRE(report.replayed);
  return report;
}

inline std::function<Tensors()> uniform(std::int64_t n, DType dtype = kFloat, int count = 3,
                                        Device device = Device(Device::CUDA)) {
  return [=] {
    Tensors all;
    for (int i = 0; i < count; ++i) all.push_back((rand({n}) * 7 - 3).to(dtype).to(device));
    return all;
  };
}

// Integers from -3 to 3: sums of them and of their products do not depend on the order.
inline std::function<Tensors()> whole(std::vector<std::int64_t> sizes, DType dtype = kFloat, int count = 3) {
  return [=] {
    Tensors all;
    for (int i = 0; i < count; ++i) all.push_back(randint(-3, 4, sizes).to(dtype).to(Device::CUDA));
    return all;
  };
}

}  // namespace ebb::fused
