// Batch normalisation on a device.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;

TEST_CASE("statistics of batch norm do not cancel on a device") {
  manual_seed(4);
  Tensor x = randn({70, 4, 9, 11}, kDouble);
  x.select(1, 0).add_(1e4);                // far from 0
  x.select(1, 1).fill_(3.25);              // constant
  x.select(1, 2).select(0, 0).fill_(1e3);  // first elements unlike the others
  const Tensor single = x.to(kFloat), wide = single.to(kDouble);
  const Tensor mean = wide.mean({0, 2, 3}), var = wide.var({0, 2, 3}, false);
  for (const auto format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    const Tensor on_device = single.contiguous(format).to(Device::CUDA);
    const auto [out, saved_mean, rstd] = native_batch_norm(on_device, {}, {}, {}, {}, true, 0.1, 0.5);
    CHECK(out.is_contiguous(format));
    CHECK(allclose(saved_mean.cpu().to(kDouble), mean, 1e-6, 1e-6));
    CHECK(allclose(rstd.cpu().to(kDouble), (var + 0.5).rsqrt(), 1e-5, 0));
    CHECK(rstd.cpu()[1].item<float>() == Approx(1 / std::sqrt(0.5F)).epsilon(1e-7));
    CHECK(allclose(out.cpu().to(kDouble)[3],
                   std::get<0>(native_batch_norm(wide, {}, {}, {}, {}, true, 0.1, 0.5))[3], 1e-3, 1e-3));
  }
}

TEST_CASE("batch norm of nothing has no mean") {
  const Tensor x = empty({0, 3, 2, 2}, Device::CUDA);
  CHECK(std::get<1>(native_batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5)).cpu().isnan().all().item<bool>());
}
