// Results of cuDNN and of ebb's kernels, compared with the CPU, also with several threads; handles and plans.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/catch.h"
#include "support/compare.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace ebb;
using testing::check_close;
using testing::compare;
using testing::Deterministic;
using testing::format_of;
using testing::Layer;
using testing::with_and_without_cudnn;

namespace {

// The results of batch norm in training, and its running statistics.
struct Normalised {
  Tensor out, dx, dw, db, mean, var;
};

Normalised normalise(const Tensor& x, const Tensor& seed, DType statistics, bool affine) {
  const TensorOptions like = TensorOptions(x.dtype()).device(x.device());
  const std::int64_t channels = x.size(1);
  Tensor leaf = x.detach().requires_grad_();
  Tensor w = (arange(channels, kFloat) * 0.25 + 0.5).to(like).requires_grad_(),
         b = (arange(channels, kFloat) * -0.5).to(like).requires_grad_();
  Normalised n;
  n.mean = full({channels}, 0.5, TensorOptions(statistics).device(x.device()));
  n.var = full({channels}, 2.0, TensorOptions(statistics).device(x.device()));
  const Tensor out = affine ? batch_norm(leaf, w, b, n.mean, n.var, true, 0.3, 1e-3)
                            : batch_norm(leaf, {}, {}, n.mean, n.var, true, 0.3, 1e-3);
  out.backward(seed);
  n.out = out.detach();
  n.dx = leaf.grad();
  if (affine) n.dw = w.grad(), n.db = b.grad();
  return n;
}

}  // namespace

TEST_CASE("cuDNN is enabled unless it is turned off") {
  CHECK(cuda::is_cudnn_enabled());
  cuda::enable_cudnn(false);
  CHECK_FALSE(cuda::is_cudnn_enabled());
  cuda::enable_cudnn(true);
  CHECK(cuda::is_cudnn_enabled());
}

TEST_CASE("EBB_CUDNN=0 makes cuDNN unavailable") {
  const char* const wanted = std::getenv("EBB_CUDNN");
  const bool forbidden = wanted && std::string(wanted) == "0";
  if (forbidden) CHECK_FALSE(cuda::cudnn_is_available());
  if (std::getenv("EBB_EMU_DNN")) CHECK(cuda::cudnn_is_available() == !forbidden);
}

TEST_CASE("disabling cuDNN also disables its emulation") {
  if (!std::getenv("EBB_EMU_DNN")) return;  // the emulated cuDNN sums in another order than ebb's kernels
  const bool forbidden = !cuda::cudnn_is_available();
  manual_seed(19);
  const Tensor x = (randn({16, 8, 30, 30}) + 0.3).contiguous(MemoryFormat::ChannelsLast).to(Device::CUDA);
  const Tensor w = randn({8, 8, 3, 3}).to(Device::CUDA);
  const Layer layers[] = {[&](const Tensor& v) { return conv2d(v, w); },
                          [](const Tensor& v) { return batch_norm(v, {}, {}, {}, {}, true, 0.1, 1e-5); }};
  for (const Layer& layer : layers) {
    const Tensor on = layer(x);
    CHECK(equal(layer(x), on));
    cuda::enable_cudnn(false);
    const Tensor off = layer(x);
    cuda::enable_cudnn(true);
    CHECK(equal(off, on) == forbidden);
  }
}

TEST_CASE("convolutions agree with the CPU with and without cuDNN") {
  manual_seed(11);
  const Tensor x = randn({2, 4, 7, 6}, kDouble), w = randn({6, 4, 3, 2}, kDouble) * 0.3;
  with_and_without_cudnn([&] {
    compare(
        "conv2d", [&](const Tensor& v) { return conv2d(v, w.to(v.dtype()).to(v.device()), {}, 2, 1); }, x);
  });
}

TEST_CASE("convolutions with bias agree with the CPU with and without cuDNN") {
  manual_seed(12);
  const Tensor x = randn({2, 4, 7, 6}, kDouble), b = randn({8}, kDouble);
  const Tensor dense = randn({8, 4, 3, 2}, kDouble) * 0.3, each = randn({8, 1, 3, 3}, kDouble) * 0.3,
               turned = randn({4, 8, 3, 3}, kDouble) * 0.3;
  const auto like = [](const Tensor& t, const Tensor& v) { return t.to(v.dtype()).to(v.device()); };
  with_and_without_cudnn([&] {
    compare("all channels", [&](const Tensor& v) { return conv2d(v, like(dense, v), like(b, v), 2, 1); }, x);
    // For these, the bias is added in a separate pass.
    compare(
        "two filters a channel",
        [&](const Tensor& v) { return conv2d(v, like(each, v), like(b, v), 1, 1, 1, /*groups=*/4); }, x);
    compare(
        "transposed", [&](const Tensor& v) { return conv_transpose2d(v, like(turned, v), like(b, v)); }, x);
  });
}

TEST_CASE("long sums of convolutions on a device are accurate without cuDNN") {
  constexpr std::int64_t kTerms = std::int64_t{1} << 20;
  const TensorOptions here = TensorOptions(kFloat).device(Device::CUDA);
  const auto error = [](const Tensor& x) { return std::abs(x.item<double>() / (kTerms * double{0.7F}) - 1); };
  const Tensor terms = full({kTerms}, 0.7, here);
  cuda::enable_cudnn(false);
  CHECK(error(conv1d(terms.view({1, kTerms, 1}), ones({1, kTerms, 1}, here))) < 1e-6);
  CHECK(error(conv_transpose1d(terms.view({1, kTerms, 1}), ones({kTerms, 1, 1}, here))) < 1e-6);
  Tensor weight = ones({1, 1, 1}, here).requires_grad_();
  conv1d(ones({1, 1, kTerms}, here), weight).backward(terms.view({1, 1, kTerms}));
  CHECK(error(weight.grad()) < 1e-6);
  cuda::enable_cudnn(true);
}

TEST_CASE("convolutions with bias and relu keep NaN and infinities with and without cuDNN") {
  manual_seed(13);
  Tensor x = randn({2, 8, 6, 8}, kDouble);
  x.index_put_({0, 3, 2, 5}, std::numeric_limits<double>::quiet_NaN());
  x.index_put_({1, 0, 0, 0}, -std::numeric_limits<double>::infinity());
  const Tensor w = randn({8, 8, 3, 3}, kDouble), b = randn({8}, kDouble);
  with_and_without_cudnn([&] {
    for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble})
      for (const bool last : {false, true}) {
        INFO(to_string(dtype) << (last ? ", channels-last" : ", contiguous"));
        const auto rounded = [&](const Tensor& t) { return t.to(dtype).to(kDouble); };
        const auto there = [&](const Tensor& t) {
          return t.to(dtype).contiguous(format_of(t, last && t.dim() == 4)).to(Device::CUDA);
        };
        const Tensor expected = convolution_relu(rounded(x), rounded(w), rounded(b), 1, 1),
                     got = convolution_relu(there(x), there(w), there(b), 1, 1).cpu().to(kDouble);
        CHECK(equal(got.isnan(), expected.isnan()));
        CHECK(equal(got.isinf(), expected.isinf()));
        check_close(got.nan_to_num(0, 0, 0), expected.nan_to_num(0, 0, 0), dtype);
      }
  });
}

TEST_CASE("batch norm in training agrees with the CPU with and without cuDNN") {
  manual_seed(12);
  const DimVector shapes[] = {{6, 16}, {2, 16, 3, 2}, {2, 16, 2, 3, 2}, {3, 5, 2, 2}, {3, 8, 4}};
  with_and_without_cudnn([&] {
    for (const DimVector& shape : shapes)
      for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble})
        for (const bool affine : {true, false})
          for (const bool last : {true, false}) {
            if ((!affine && dtype != kFloat) || (!last && shape.size() < 4)) continue;
            INFO(IntArrayRef(shape) << ' ' << to_string(dtype) << affine << last);
            const Tensor x = (randn(shape, kDouble) * 2 + 1).to(dtype),
                         seed = randn(shape, kDouble).to(dtype);
            const auto there = [&](const Tensor& t) {
              return t.contiguous(format_of(t, last)).to(Device::CUDA);
            };
            const Normalised expected = normalise(x.to(kDouble), seed.to(kDouble), kDouble, affine);
            const DType statistics = dtype == kDouble ? kDouble : kFloat;
            const Normalised got = normalise(there(x), there(seed), statistics, affine);
            CHECK(got.out.is_contiguous(format_of(x, last)));
            CHECK(got.dx.is_contiguous(format_of(x, last)));
            check_close(got.out, expected.out, dtype);
            check_close(got.dx, expected.dx, dtype);
            check_close(got.mean, expected.mean, statistics);
            check_close(got.var, expected.var, statistics);
            if (!affine) continue;
            CHECK(got.dw.dtype() == dtype);
            check_close(got.dw, expected.dw, dtype);
            check_close(got.db, expected.db, dtype);
          }
  });
}

TEST_CASE("batch norm statistics agree with the CPU with and without cuDNN") {
  manual_seed(13);
  Tensor x = randn({4, 8, 3, 3}, kFloat) * 1e-3;  // variances below eps
  x.select(1, 3).fill_(2.5);                      // and a variance of zero
  const Tensor here = x.contiguous(MemoryFormat::ChannelsLast).to(Device::CUDA);
  for (const DType dtype : {kFloat, kHalf}) {
    Tensor expected = zeros({8}, dtype);
    batch_norm(x.to(dtype), {}, {}, zeros({8}, dtype), expected, true, 1.0, 1e-2);
    with_and_without_cudnn([&] {
      Tensor var = zeros({8}, TensorOptions(dtype).device(Device::CUDA));
      batch_norm(here.to(dtype), {}, {}, zeros({8}, TensorOptions(dtype).device(Device::CUDA)), var, true,
                 1.0, 1e-2);
      // The tolerance is the rounding error of variance + eps, because code reads the running variance only
      // in this sum.
      CHECK(allclose(var.cpu().to(kDouble), expected.to(kDouble), 1e-3, 1e-8));
      CHECK(var.cpu().ge(0).all().item<bool>());
    });
  }
  with_and_without_cudnn([&] {
    const auto [out, mean, rstd] = native_batch_norm(here, {}, {}, {}, {}, true, 0.1, 1e-2);
    CHECK(mean.dtype() == kFloat);
    // A channel with the constant value 2.5. ebb's kernels subtract the first element before they sum. The
    // summation order of cuDNN is not documented, so its mean may have the rounding error of a float sum, and
    // its variance the square of that.
    const bool own = !cuda::is_cudnn_enabled() || !cuda::cudnn_is_available();
    const double rounding = own ? 0 : 8 * static_cast<double>(std::numeric_limits<float>::epsilon());
    const double off = std::abs(static_cast<double>(mean.cpu()[3].item<float>()) - 2.5);
    CHECK(off <= 2.5 * rounding);
    CHECK(rstd.cpu()[3].item<float>() == Approx(10).epsilon(1e-6 + 2.5 * 2.5 * rounding / (2 * 1e-2)));
    CHECK(out.cpu().select(1, 3).abs().max().item<float>() <= 2.5 * rounding * 10);
  });
}

TEST_CASE("batch norm skips unneeded gradients with and without cuDNN") {
  manual_seed(14);
  const Tensor x = randn({4, 8, 3, 3}).contiguous(MemoryFormat::ChannelsLast), seed = randn({4, 8, 3, 3});
  const auto gradients = [&](Device device, bool of_x, bool of_w) {
    Tensor leaf = x.clone().to(device).requires_grad_(of_x), w = ones({8}, device).requires_grad_(of_w),
           b = zeros({8}, device).requires_grad_(!of_w);
    batch_norm(leaf, w, b, {}, {}, true, 0.1, 1e-5).backward(seed.to(device));
    CHECK(leaf.grad().defined() == of_x);
    CHECK(w.grad().defined() == of_w);
    return cat({of_x ? leaf.grad().cpu().contiguous().view({-1}) : zeros({1}), (of_w ? w : b).grad().cpu()});
  };
  for (const bool of_x : {true, false})
    for (const bool of_w : {true, false}) {
      const Tensor expected = gradients(Device::CPU, of_x, of_w);
      with_and_without_cudnn(
          [&] { CHECK(allclose(gradients(Device::CUDA, of_x, of_w), expected, 1e-4, 1e-5)); });
    }
}

TEST_CASE("second derivatives of batch norm agree with the CPU with and without cuDNN") {
  manual_seed(17);
  const Tensor x = randn({2, 8, 6, 5}, kDouble);
  const auto second = [&](const Layer& layer, Device device) {
    Tensor leaf = x.to(kFloat).contiguous(MemoryFormat::ChannelsLast).to(device).requires_grad_();
    const Tensor out = layer(leaf);
    const Tensor grad = autograd::grad({(out * out).sum()}, {leaf}, {}, true, true)[0];
    return autograd::grad({(grad * grad).sum()}, {leaf})[0].cpu();
  };
  const Layer layers[] = {
      [](const Tensor& v) { return batch_norm(v, {}, {}, {}, {}, true, 0.1, 1e-5).pow(2); }};
  for (const Layer& layer : layers) {
    const Tensor expected = second(layer, Device::CPU);
    with_and_without_cudnn([&] { CHECK(allclose(second(layer, Device::CUDA), expected, 1e-3, 1e-3)); });
  }
}

TEST_CASE("a captured batch norm and the op after it give eager results with and without cuDNN") {
  const Deterministic guard;
  manual_seed(18);
  const Tensor x = randn({2, 8, 6, 6}).contiguous(MemoryFormat::ChannelsLast), other = randn({2, 8, 6, 6});
  with_and_without_cudnn([&] {
    Tensor input = x.to(Device::CUDA).requires_grad_(), out, grad;
    Tensor mean = zeros({8}, Device::CUDA), var = ones({8}, Device::CUDA);
    const auto step = [&] {
      out = avg_pool2d(batch_norm(input, {}, {}, mean, var, true, 0.1, 1e-5), 2);
      grad = autograd::grad({(out * out).sum()}, {input})[0];
    };
    step();  // builds the plans
    cuda::Graph graph;
    graph.capture(step);
    {
      NoGradGuard no_grad;
      input.copy_(other);
    }
    mean.zero_();
    var.fill_(1);
    graph.replay();
    const Tensor replayed = out.clone(), gradient = grad.clone(), left = var.clone();
    mean.zero_();
    var.fill_(1);
    step();
    CHECK(equal(replayed, out));
    CHECK(equal(gradient, grad));
    CHECK(equal(left, var));
    CHECK_FALSE(left.eq(1).any().cpu().item<bool>());
  });
}

TEST_CASE("batch norm on several streams is correct with and without cuDNN") {
  const Deterministic guard;
  manual_seed(20);
  const Tensor x = randn({16, 32, 12, 12}).contiguous(MemoryFormat::ChannelsLast).to(Device::CUDA),
               seed = randn({16, 32, 12, 12}).contiguous(MemoryFormat::ChannelsLast).to(Device::CUDA);
  with_and_without_cudnn([&] {
    const auto gradient = [&](const Tensor& input) {
      Tensor leaf = input.detach().requires_grad_();
      const Tensor out = batch_norm(leaf, {}, {}, {}, {}, true, 0.1, 1e-5);
      return std::pair{out.detach(), autograd::grad({out}, {leaf}, {seed})[0]};
    };
    std::vector<Tensor> inputs;
    std::vector<std::pair<Tensor, Tensor>> expected, got;
    for (int i = 0; i < 4; ++i) {
      inputs.push_back(x * (i + 1) + i);
      expected.push_back(gradient(inputs.back()));
    }
    cuda::synchronize();
    // Streams must not share memory that kernels write: scratch memory and counters of waiting blocks.
    std::vector<cuda::Stream> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(cuda::Stream::from_pool());
    for (int round = 0; round < 6; ++round)
      for (std::size_t i = 0; i < 4; ++i) {
        const cuda::StreamGuard on(streams[i]);
        if (round == 0) got.emplace_back();
        got[i] = gradient(inputs[i]);
      }
    cuda::synchronize();
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(equal(got[i].first.cpu(), expected[i].first.cpu()));
      CHECK(equal(got[i].second.cpu(), expected[i].second.cpu()));
    }
  });
}

TEST_CASE("threads that share plans give equal results with and without cuDNN") {
  const Deterministic guard;
  manual_seed(21);
  const Tensor x = randn({4, 8, 11, 9}).contiguous(MemoryFormat::ChannelsLast).to(Device::CUDA),
               w = randn({8, 8, 3, 3}).to(Device::CUDA);
  cuda::synchronize();
  with_and_without_cudnn([&] {
    const auto run = [&] {
      Tensor leaf = x.detach().requires_grad_();
      const Tensor out = batch_norm(conv2d(leaf, w, {}, 1, 1), {}, {}, {}, {}, true, 0.1, 1e-5);
      return autograd::grad({(out * out * out).sum()}, {leaf})[0].cpu();
    };
    std::vector<Tensor> got(4);
    std::vector<std::thread> threads;
    for (Tensor& result : got) threads.emplace_back([&] { result = run(); });
    for (std::thread& thread : threads) thread.join();
    const Tensor expected = run();
    for (const Tensor& result : got) CHECK(equal(result, expected));
  });
}

// Other threads and later runs deserialize a plan that the first thread built; its NaN mode must not be lost.
TEST_CASE("relu after convolutions keeps NaN in all threads with and without cuDNN") {
  manual_seed(22);
  Tensor x = randn({2, 8, 6, 8});
  x.index_put_({1, 2, 3, 4}, std::numeric_limits<double>::quiet_NaN());
  const Tensor w = randn({8, 8, 3, 3}), b = randn({8}), expected = convolution_relu(x, w, b, 1, 1).isnan();
  with_and_without_cudnn([&] {
    for (const DType dtype : {kFloat, kHalf, kBFloat16})
      for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
        const auto there = [&](const Tensor& t) { return t.to(dtype).to(Device::CUDA); };
        const Tensor in = there(x).contiguous(format), weight = there(w).contiguous(format), bias = there(b);
        cuda::synchronize();
        for (int i = 0; i < 3; ++i) {
          Tensor got;
          std::thread([&] { got = convolution_relu(in, weight, bias, 1, 1).cpu(); }).join();
          INFO(to_string(dtype) << ", thread " << i);
          CHECK(equal(got.isnan(), expected));
        }
      }
  });
}

// Handles and plans of libraries belong to a device and a thread: tests with several of both, concurrently
// and one after another.

namespace {

struct Expected {
  Tensor x, w, image, filter, product, filtered, gradient;
};

Expected make(std::int64_t n) {
  Expected e;
  e.x = randn({n, 33});
  e.w = randn({33, n + 5});
  e.image = randn({2, 4, n, 9});
  e.filter = randn({8, 4, 3, 3});
  e.product = matmul(e.x, e.w);
  Tensor filter = e.filter.clone().requires_grad_();
  const Tensor y = conv2d(e.image, filter, {}, 1, 1);
  y.backward(ones_like(y));
  e.filtered = y.detach();
  e.gradient = filter.grad();
  return e;
}

bool holds(const Expected& e, const Device& device) {
  const auto close = [](const Tensor& a, const Tensor& b) { return allclose(a.cpu(), b, 1e-4, 1e-3); };
  if (!close(matmul(e.x.to(device), e.w.to(device)), e.product)) return false;
  Tensor filter = e.filter.to(device).detach().requires_grad_();
  const Tensor y = conv2d(e.image.to(device), filter, {}, 1, 1);
  y.backward(ones_like(y));
  return close(y.detach(), e.filtered) && close(filter.grad(), e.gradient);
}

}  // namespace

TEST_CASE("two devices have separate plans for one shape", "[two_devices]") {
  if (cuda::device_count() < 2) {
    WARN("one device only");
    return;
  }
  const Expected e = make(12);
  for (int i = 0; i < 3; ++i) {
    CHECK(holds(e, Device("cuda:0")));
    CHECK(holds(e, Device("cuda:1")));
  }
  cuda::set_device(1);
  CHECK(holds(e, Device("cuda:0")));
  CHECK(holds(e, Device("cuda:1")));
  cuda::set_device(0);
}

TEST_CASE("threads build and use convolution plans concurrently") {
  std::vector<Expected> expected;
  for (const std::int64_t n : {5, 12, 17}) expected.push_back(make(n));
  for (int round = 0; round < 2;
       ++round) {  // the second round has new threads, after the first ones have ended
    std::atomic<int> good = 0;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const cuda::StreamGuard own(cuda::Stream::from_pool());
        for (std::size_t i = 0; i < 3; ++i) good += holds(expected[(t + i) % 3], Device(Device::CUDA));
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(good == 12);
  }
}
