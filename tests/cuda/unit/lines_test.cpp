// Kernels over lines, in the lengths for which launches differ: softmax, norms and scans, compared with the
// CPU; transposing copies and joins.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>

using namespace ebb;

namespace {

double tolerance(DType dtype) {
  return dtype == kDouble ? 1e-11 : dtype == kFloat ? 3e-5 : dtype == kHalf ? 4e-3 : 3e-2;
}

// Compares value and gradients of a function on both devices. 16-bit inputs are compared with float results
// of the CPU.
void check(const std::vector<Tensor>& inputs, const std::function<Tensor(const std::vector<Tensor>&)>& f,
           DType dtype) {
  INFO(to_string(dtype));
  const auto run = [&](const Device& device, DType type) {
    std::vector<Tensor> leaves, results;
    for (const Tensor& x : inputs)
      leaves.push_back(x.detach().to(dtype).to(device, type).detach().requires_grad_());
    const Tensor y = f(leaves);
    results.push_back(y.detach());
    const Tensor weights = arange(1, 1 + y.numel(), kDouble).view(y.sizes()).sin().to(dtype).to(device, type);
    y.backward(weights);
    for (const Tensor& x : leaves) results.push_back(x.grad());
    return results;
  };
  const auto there = run(Device(Device::CUDA), dtype);
  const auto here = run(Device(Device::CPU), element_size(dtype) == 2 ? kFloat : dtype);
  for (std::size_t i = 0; i < here.size(); ++i) {
    INFO("result " << i);
    const Tensor wanted = here[i].to(kDouble);
    const double t = tolerance(dtype), scale = std::max(1.0, wanted.abs().max().item<double>());
    CHECK(there[i].dtype() == dtype);
    CHECK(allclose(there[i].cpu().to(kDouble), wanted, t, t * scale));
  }
}

const std::vector<DType> kFloats = {kFloat, kDouble, kHalf, kBFloat16};

Tensor offset(const Tensor& x) {  // the same values, one element after an aligned address
  const Tensor room = cat({zeros({1}, x.options()), x.reshape({-1})});
  return room.slice(0, 1).view(x.sizes());
}

}  // namespace

TEST_CASE("softmax of short rows agrees with the CPU") {
  for (const std::int64_t n : {1, 3, 8, 10, 100, 256, 257, 264, 1000, 1024, 1030, 4096, 8000, 16381, 16384})
    for (const DType dtype : kFloats) {
      INFO(n);
      const Tensor x = randn({n > 5000 ? 2 : 5, n}) * 3;
      check({x}, [](const auto& in) { return softmax(in[0], -1); }, dtype);
      check({x}, [](const auto& in) { return log_softmax(in[0], -1); }, dtype);
    }
}

TEST_CASE("softmax of rows that are too long for the registers agrees with the CPU") {
  for (const std::int64_t n : {32 * 1024 + 8, 32 * 1024 + 13})
    for (const DType dtype : {kFloat, kDouble, kBFloat16}) {
      INFO(n);
      const Tensor x = randn({2, n}) * 3;
      check({x}, [](const auto& in) { return softmax(in[0], -1); }, dtype);
      check({x}, [](const auto& in) { return log_softmax(offset(in[0]), -1); }, dtype);
    }
}

TEST_CASE("softmax over a strided dimension agrees with the CPU") {
  const auto both = [](const Tensor& x, std::int64_t dim, DType dtype) {
    check({x}, [&](const auto& in) { return softmax(in[0], dim); }, dtype);
    check({x}, [&](const auto& in) { return log_softmax(in[0], dim); }, dtype);
  };
  for (const DType dtype : kFloats) {
    for (const std::int64_t n : {1, 7, 40, 300, 513, 1100}) {
      INFO(n);
      both(randn({3, n, 37}) * 3, 1, dtype);
      both(randn({3, n, 40}) * 3, 1, dtype);
    }
    for (const std::int64_t inner : {2, 8, 24, 600}) {
      INFO("inner " << inner);
      both(randn({5, 19, inner}), 1, dtype);
    }
    both(randn({130, 16}), 0, dtype);
    check({randn({3, 20, 16})}, [](const auto& in) { return softmax(offset(in[0]), 1); }, dtype);
  }
}

TEST_CASE("softmax of infinities and NaN agrees with the CPU") {
  for (const std::int64_t n : {100, 40000})
    for (const std::int64_t lines : {5, 8})
      for (const std::int64_t dim : {0, 1}) {
        INFO(lines << " of " << n << " along " << dim);
        Tensor x = randn({lines, n});
        x.select(0, 0).fill_(-INFINITY);
        x.select(0, 1).slice(0, 0, n - 3).fill_(-INFINITY);
        x.select(0, 2).select(0, n / 2).fill_(INFINITY);
        x.select(0, 3).select(0, 0).fill_(NAN);
        if (dim == 0) x = x.t().contiguous();
        const Tensor y = x.to(Device::CUDA);
        CHECK(allclose(softmax(y, dim).cpu(), softmax(x, dim), 1e-5, 1e-7, true));
        CHECK(allclose(log_softmax(y, dim).cpu(), log_softmax(x, dim), 1e-5, 1e-5, true));
      }
}

TEST_CASE("layer norm of rows of many lengths agrees with the CPU") {
  for (const std::int64_t n : {1, 5, 8, 100, 256, 264, 1000, 1029, 4096})
    for (const DType dtype : kFloats) {
      INFO(n);
      const Tensor x = randn({7, n}) + 2, w = rand({n}) + 0.5, b = randn({n});
      check({x, w, b}, [&](const auto& in) { return layer_norm(in[0], {n}, in[1], in[2]); }, dtype);
      check({x}, [&](const auto& in) { return layer_norm(offset(in[0]), {n}); }, dtype);
    }
  for (const std::int64_t n : {33000, 33001})
    for (const DType dtype : {kFloat, kDouble, kHalf}) {
      INFO(n);
      const Tensor x = randn({2, n}) + 2, w = rand({n}) + 0.5, b = randn({n});
      check({x, w, b}, [&](const auto& in) { return layer_norm(in[0], {n}, in[1], in[2]); }, dtype);
      check({x, w}, [&](const auto& in) { return layer_norm(offset(in[0]), {n}, in[1]); }, dtype);
    }
}

TEST_CASE("weight and bias gradients of layer norm agree with the CPU for many rows") {
  for (const std::int64_t rows : {1, 33, 300, 5000})
    for (const std::int64_t n : {9, 64}) {
      INFO(rows << " x " << n);
      const Tensor x = randn({rows, n}), w = rand({n}) + 0.5, b = randn({n});
      check({x, w, b}, [&](const auto& in) { return layer_norm(in[0], {n}, in[1], in[2]); }, kFloat);
    }
}

TEST_CASE("group norm of short and long groups agrees with the CPU") {
  for (const std::int64_t places : {1, 4, 49, 6000})
    for (const DType dtype : {kFloat, kDouble, kBFloat16}) {
      INFO(places);
      const Tensor x = randn({2, 12, places}) + 1, w = rand({12}) + 0.5, b = randn({12});
      check({x, w, b}, [&](const auto& in) { return group_norm(in[0], 2, in[1], in[2]); }, dtype);
      check({x}, [&](const auto& in) { return group_norm(in[0], 3); }, dtype);
    }
}

TEST_CASE("scans over contiguous and strided dimensions agree with the CPU") {
  const std::vector<std::vector<std::int64_t>> shapes = {{3, 1},    {3, 5},      {300, 130}, {2, 1024},
                                                         {3, 1025}, {1, 9000},   {2, 20001}, {5, 300, 3},
                                                         {1000, 7}, {2, 3000, 2}};
  for (const auto& shape : shapes)
    for (std::int64_t dim = 0; dim < static_cast<std::int64_t>(shape.size()); ++dim) {
      INFO(IntArrayRef(shape) << " along " << dim);
      const Tensor x = randn(shape, kDouble), y = x.to(Device::CUDA);
      CHECK(allclose(cumsum(y, dim).cpu(), cumsum(x, dim), 1e-10, 1e-10));
      CHECK(allclose(logcumsumexp(y, dim).cpu(), logcumsumexp(x, dim), 1e-10, 1e-10));
      const auto [value, place] = cummax(y, dim);
      CHECK(equal(value.cpu(), std::get<0>(cummax(x, dim))));
      CHECK(equal(place.cpu(), std::get<1>(cummax(x, dim))));
      const Tensor whole = randint(-3, 4, shape);
      CHECK(equal(cumsum(whole.to(Device::CUDA), dim).cpu(), cumsum(whole, dim)));
      const Tensor close = (x * 0.01 + 1).to(kFloat);
      CHECK(allclose(cumprod(close.to(Device::CUDA), dim).cpu(), cumprod(close, dim), 1e-4, 1e-4));
      CHECK(equal(cumsum(close.to(Device::CUDA), dim), cumsum(close.to(Device::CUDA), dim)));
    }
}

TEST_CASE("scans of misaligned rows in both directions agree with the CPU") {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kByte})
    for (const std::int64_t n : {1, 7, 8, 63, 2048, 2051, 9001, 17001}) {
      INFO(to_string(dtype) << " rows of " << n);
      const Tensor x = (is_floating(dtype) ? rand({3, n}) - 0.5 : randint(0, 5, {3, n})).to(dtype);
      const double t = is_floating(dtype) ? tolerance(dtype) : 0;
      const auto close = [&](const Tensor& there, const Tensor& here) {
        CHECK(there.dtype() == here.dtype());
        CHECK(allclose(there.cpu().to(kDouble), here.to(kDouble), t, 4 * t));
      };
      const Tensor there = x.to(Device::CUDA);
      for (const Tensor& y : {there, offset(there)}) {
        close(cumsum(y, 1), cumsum(x, 1));
        close(cumsum(y, 1, dtype), cumsum(x, 1, dtype));
        if (!is_floating(dtype)) continue;
        close(logcumsumexp(y, 1), logcumsumexp(x, 1));
        close(cumprod(y + 1, 1), cumprod(x + 1, 1));
        // The gradient is a scan in reverse direction.
        const Tensor leaf = y.detach().requires_grad_(), weights = (x + 0.25).to(Device::CUDA);
        cumsum(leaf, 1).backward(offset(weights));
        close(leaf.grad(), (x + 0.25).flip({1}).cumsum(1).flip({1}));
      }
    }
  Tensor alone = rand({100003}, kDouble), there = alone.to(Device::CUDA);  // in chunks, in place
  there.slice(0, 3).cumsum_(0);
  alone.slice(0, 3).cumsum_(0);
  CHECK(allclose(there.cpu(), alone, 1e-12, 1e-10));
}

TEST_CASE("copies of transposed tensors are exact") {
  for (const DType dtype : {kFloat, kDouble, kHalf, kByte, kInt}) {
    INFO(to_string(dtype));
    const auto check_copy = [](const Tensor& x, const std::function<Tensor(const Tensor&)>& view) {
      const Tensor there = view(x.to(Device::CUDA)).contiguous();
      CHECK(equal(there.cpu(), view(x).contiguous()));
    };
    const Tensor x = randint(0, 100, {3, 70, 9, 11}).to(dtype);
    check_copy(x, [](const Tensor& t) { return t.permute({0, 2, 3, 1}); });
    check_copy(x, [](const Tensor& t) { return t.transpose(0, 3); });
    check_copy(x, [](const Tensor& t) { return t.transpose(1, 2); });
    check_copy(x, [](const Tensor& t) { return t.slice(1, 3, 66).permute({3, 1, 0, 2}); });
    check_copy(
        x, [](const Tensor& t) { return t.contiguous(MemoryFormat::ChannelsLast).permute({0, 2, 3, 1}); });
    check_copy(x.view({210, 99}), [](const Tensor& t) { return t.t(); });
    check_copy(x.view({210, 99}), [](const Tensor& t) { return t.slice(0, 1).slice(1, 5).t(); });
  }
  const Tensor x = randn({5, 33, 65});
  for (const DType from : {kFloat, kHalf, kBFloat16, kDouble, kInt})
    for (const DType to : {kFloat, kHalf, kBFloat16, kDouble, kLong}) {
      const Tensor y = (x * 10).to(from);
      Tensor out = empty({5, 65, 33}, TensorOptions(Device::CUDA).dtype(to));
      out.copy_(y.to(Device::CUDA).transpose(1, 2));
      CHECK(equal(out.cpu(), y.transpose(1, 2).to(to)));
    }
}

TEST_CASE("cat and stack of many tensors and views are exact") {
  for (const DType dtype : {kFloat, kHalf, kByte, kLong}) {
    INFO(to_string(dtype));
    std::vector<Tensor> here, there;
    for (std::int64_t i = 0; i < 101; ++i) {
      here.push_back(randint(0, 100, {3, i % 7, 5}).to(dtype));
      if (i % 10 == 3) here.back() = randint(0, 100, {3, 5, 4}).to(dtype).transpose(1, 2);
      if (i % 10 == 6) here.back() = here.back().slice(0, 0, 3).slice(1, i % 2);
      there.push_back(here.back().to(Device::CUDA));
      if (i % 10 == 3) there.back() = there.back().transpose(1, 2).contiguous().transpose(1, 2);
    }
    for (std::size_t i = 3; i < here.size(); i += 10) here[i] = here[i].slice(2, 0, 5).expand({3, 4, 5});
    CHECK(equal(cat(there, 1).cpu(), cat(here, 1)));
    std::vector<Tensor> alike, apart;
    for (int i = 0; i < 60; ++i) {
      alike.push_back(randint(0, 100, {4, 6}).to(dtype));
      apart.push_back(alike.back().to(Device::CUDA));
    }
    for (const std::int64_t dim : {0, 1, 2}) CHECK(equal(stack(apart, dim).cpu(), stack(alike, dim)));
    CHECK(equal(cat(apart, 0).cpu(), cat(alike, 0)));
    CHECK(equal(cat({apart[0], apart[1].slice(0, 0, 0), apart[2].to(kDouble)}, 0).cpu(),
                cat({alike[0], alike[1].slice(0, 0, 0), alike[2].to(kDouble)}, 0)));
  }
}
