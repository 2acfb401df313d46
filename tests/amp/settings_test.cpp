// Settings of autocast and of GradScaler that change during use.
#include <ebb/amp/grad_scaler.h>
#include <ebb/ebb.h>

#include "amp/device.h"
#include "support/catch.h"
#include "support/scopes.h"

using namespace ebb;
using amp::GradScaler;
using support::Saying;

TEST_CASE("GradScaler uses the most recently set growth and backoff factors") {
  GradScaler scaler(kHere, amp::GradScalerOptions().init_scale(16).growth_interval(1));
  const Tensor p = ones({1}, TensorOptions(kHere)).requires_grad_();
  optim::SGD optimizer({p}, optim::SGDOptions(0.5));
  const auto scale_after = [&](double gradient) {
    optimizer.zero_grad();
    (scaler.scale(p.sum()) * gradient).backward();
    scaler.step(optimizer);
    scaler.update();
    return scaler.get_scale();
  };
  scaler.set_growth_factor(8);
  scaler.set_backoff_factor(0.25);
  CHECK(scaler.get_growth_factor() == 8);
  CHECK(scaler.get_backoff_factor() == 0.25);
  CHECK(scale_after(1) == 128);
  CHECK(scale_after(std::numeric_limits<double>::infinity()) == 32);
  CHECK_THROWS_MATCHES(scaler.set_growth_factor(1), Error,
                       Saying("GradScaler: the growth factor must be > 1.0, got 1."));
  CHECK_THROWS_MATCHES(scaler.set_backoff_factor(1.5), Error,
                       Saying("GradScaler: the backoff factor must be < 1.0, got 1.5."));
  CHECK_THROWS_MATCHES(scaler.set_growth_interval(0), Error,
                       Saying("GradScaler: the growth interval must be a positive number of steps, got 0."));
  CHECK(scale_after(1) == 256);
  CHECK(scale_after(std::numeric_limits<double>::infinity()) == 64);
}

TEST_CASE("set_autocast_cache_enabled controls whether a weight is cast once or in each call") {
  const Tensor x = ones({2, 4}, TensorOptions(kHere)),
               w = full({4, 3}, 0.5, TensorOptions(kHere)).requires_grad_();
  const auto cast = [&] { return mm(x, w).grad_fn()->next_edges()[1].function; };
  {
    const amp::autocast casting(kHere, kBFloat16);
    for (const bool enabled : {false, true}) {
      autocast::set_autocast_cache_enabled(enabled);
      CHECK(autocast::is_autocast_cache_enabled() == enabled);
      const auto first = cast(), second = cast();
      CHECK((first == second) == enabled);
    }
    autocast::set_autocast_cache_enabled(false);
  }
  CHECK(autocast::is_autocast_cache_enabled());
}

TEST_CASE("GradScaler for CUDA without CUDA warns and is disabled") {
  support::Warnings warnings;
  const GradScaler scaler(kCUDA);
  CHECK(scaler.is_enabled() == cuda::is_available());
  CHECK(warnings.texts.empty() == cuda::is_available());
  if (!warnings.texts.empty())
    CHECK(warnings.texts[0] ==
          "GradScaler is enabled, but CUDA is not available. Disabling. On the CPU, use GradScaler(kCPU).");
}
