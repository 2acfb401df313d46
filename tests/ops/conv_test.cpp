// Convolutions against plain loops, their errors, and their accuracy in single precision.
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"

using namespace product_test;

namespace {

struct Case {
  int dims;
  std::int64_t batch, in, out, groups;
  std::int64_t size[3], kernel[3], stride[3], padding[3], dilation[3];
};

// Calls f(index into out, into in, into weight) for each term of a convolution.
template <class F>
void for_terms(const Case& c, const Sizes& in, const Sizes& out, F f) {
  const std::int64_t ci = c.in / c.groups, co = c.out / c.groups;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t o = 0; o < c.out; ++o)
      for (std::int64_t i = 0; i < ci; ++i)
        for (std::int64_t q = 0; q < out[0] * out[1] * out[2]; ++q)
          for (std::int64_t k = 0; k < c.kernel[0] * c.kernel[1] * c.kernel[2]; ++k) {
            const std::int64_t qs[3] = {q / (out[1] * out[2]), q / out[2] % out[1], q % out[2]};
            const std::int64_t ks[3] = {k / (c.kernel[1] * c.kernel[2]), k / c.kernel[2] % c.kernel[1],
                                        k % c.kernel[2]};
            std::int64_t at = n * c.in + o / co * ci + i;
            bool inside = true;
            for (int a = 0; a < 3; ++a) {
              const std::int64_t p = qs[a] * c.stride[a] + ks[a] * c.dilation[a] - c.padding[a];
              inside = inside && p >= 0 && p < in[a];
              at = at * in[a] + p;
            }
            if (inside)
              f((n * c.out + o) * out[0] * out[1] * out[2] + q, at,
                (o * ci + i) * c.kernel[0] * c.kernel[1] * c.kernel[2] + k);
          }
}

Sizes last(const std::int64_t (&a)[3], int dims) { return Sizes(a + 3 - dims, a + 3); }
Sizes shape(std::int64_t n, std::int64_t c, const Sizes& spatial) {
  Sizes s{n, c};
  s.insert(s.end(), spatial.begin(), spatial.end());
  return s;
}

Variable conv(const Case& c, const Variable& x, const Variable& w, const Variable& b) {
  return ebb::convolution(x, w, b, last(c.stride, c.dims), last(c.padding, c.dims), last(c.dilation, c.dims),
                          false, Sizes{0}, c.groups);
}

void check_against_loops(const Case& c) {
  const Variable x = leaf(shape(c.batch, c.in, last(c.size, c.dims)));
  const Variable w = leaf(shape(c.out, c.in / c.groups, last(c.kernel, c.dims)), 1), b = leaf({c.out}, 2);
  const Variable y = conv(c, x, w, b);
  Sizes in(c.size, c.size + 3), out(3);
  std::int64_t plane = 1;
  for (int a = 0; a < 3; ++a) {
    out[a] = (in[a] + 2 * c.padding[a] - c.dilation[a] * (c.kernel[a] - 1) - 1) / c.stride[a] + 1;
    plane *= out[a];
  }
  const Variable g = ramp(y.sizes().vec(), 3);
  std::vector<double> ey(y.numel()), ex(x.numel(), 0), ew(w.numel(), 0), eb(c.out, 0);
  for (std::size_t i = 0; i < ey.size(); ++i) {
    ey[i] = value(b, i / plane % c.out);
    eb[i / plane % c.out] += value(g, i);
  }
  for_terms(c, in, out, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    ey[i] += value(x, j) * value(w, k);
    ex[j] += value(g, i) * value(w, k);
    ew[k] += value(g, i) * value(x, j);
  });
  CHECK(error(y, ey) < 1e-11);
  const auto grads = ebb::autograd::grad({y}, {x, w, b}, {g});
  CHECK(error(grads[0], ex) < 1e-11);
  CHECK(error(grads[1], ew) < 1e-10);
  CHECK(error(grads[2], eb) < 1e-11);
  if (c.dims > 1) {
    const auto last = [&](const Variable& v) {
      return v.detach().contiguous(c.dims == 2 ? ebb::MemoryFormat::ChannelsLast
                                               : ebb::MemoryFormat::ChannelsLast3d);
    };
    const Variable xs = last(x).requires_grad_(), ws = last(w).requires_grad_(), ys = conv(c, xs, ws, b);
    CHECK(error(ys, ey) < 1e-11);
    for (const Variable& seed : {g, last(g)}) {
      const auto slopes = ebb::autograd::grad({ys}, {xs, ws}, {seed}, true);
      CHECK(error(slopes[0], ex) < 1e-11);
      CHECK(error(slopes[1], ew) < 1e-10);
    }
  }
  // The same loops compute the transposed convolution: g is the input, and the gradient of x is the output.
  Sizes extra;
  for (int a = 3 - c.dims; a < 3; ++a)
    extra.push_back(in[a] -
                    ((out[a] - 1) * c.stride[a] - 2 * c.padding[a] + c.dilation[a] * (c.kernel[a] - 1) + 1));
  const Variable t = ebb::convolution(g, w.detach(), {}, last(c.stride, c.dims), last(c.padding, c.dims),
                                      last(c.dilation, c.dims), true, extra, c.groups);
  CHECK(error(t, ex) < 1e-11);
}

}  // namespace

TEST_CASE("convolutions and their gradients equal plain loops") {
  const Case cases[] = {
      {2, 2, 1, 32, 1, {1, 12, 12}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
      {2, 3, 5, 13, 1, {1, 9, 7}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
      {2, 2, 4, 6, 2, {1, 10, 11}, {1, 3, 2}, {1, 2, 3}, {0, 1, 0}, {1, 1, 2}},
      {2, 2, 6, 6, 6, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},  // depthwise
      {2, 2, 70, 70, 70, {1, 9, 120}, {1, 3, 4}, {1, 2, 1}, {0, 1, 1}, {1, 1, 2}},
      {3, 1, 9, 9, 9, {4, 5, 6}, {2, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}},
      // kernel positions that skip phases
      {2, 2, 3, 4, 1, {1, 7, 9}, {1, 1, 1}, {1, 2, 2}, {0, 0, 0}, {1, 1, 1}},
      {2, 2, 3, 4, 1, {1, 12, 12}, {1, 2, 2}, {1, 2, 2}, {0, 0, 0}, {1, 2, 2}},  // dilation equals stride
      {2, 3, 2, 5, 1, {1, 9, 8}, {1, 3, 8}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},  // kernel as wide as the image
      {2, 5, 3, 9, 1, {1, 6, 6}, {1, 6, 6}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},  // kernel as large as the image
      // runs of kernel positions with gaps
      {2, 3, 4, 6, 2, {1, 9, 13}, {1, 4, 6}, {1, 1, 2}, {0, 0, 1}, {1, 2, 2}},
      {2, 70, 2, 3, 1, {1, 5, 8}, {1, 5, 8}, {1, 1, 1}, {0, 2, 1}, {1, 1, 1}},  // truncated runs
      {2, 1, 2, 3, 1, {1, 40, 200}, {1, 5, 5}, {1, 1, 1}, {0, 2, 2}, {1, 1, 1}},
      {1, 2, 3, 4, 1, {1, 1, 20}, {1, 1, 4}, {1, 1, 2}, {0, 0, 3}, {1, 1, 2}},
      {3, 2, 2, 3, 1, {5, 6, 7}, {2, 3, 2}, {1, 2, 1}, {1, 1, 1}, {2, 1, 1}},
      {3, 1, 4, 4, 2, {4, 5, 5}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}},
  };
  for (const Case& c : cases) {
    INFO("case " << (&c - cases));
    check_against_loops(c);
  }
}

TEST_CASE("convolutions of many channels and their gradients equal plain loops") {
  const Case cases[] = {
      // a full panel and a partial one
      {2, 3, 9, 40, 1, {1, 11, 10}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
      // several small images per load
      {2, 7, 40, 22, 1, {1, 3, 3}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
      // several blocks of channels
      {2, 2, 70, 16, 1, {1, 6, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 0}, {1, 1, 1}},
      {2, 2, 24, 48, 2, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {0, 2, 2}, {1, 2, 2}},    // groups, dilation
      {2, 3, 17, 24, 1, {1, 13, 16}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}},  // stride 2
      {2, 2, 16, 64, 1, {1, 12, 11}, {1, 1, 1}, {1, 2, 2}, {0, 0, 0}, {1, 1, 1}},
      {2, 2, 72, 24, 1, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
      {2, 1, 8, 16, 1, {1, 40, 70}, {1, 5, 3}, {1, 3, 1}, {0, 2, 1}, {1, 1, 1}},     // several rows per load
      {2, 2, 16, 128, 16, {1, 70, 71}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},  // sums over many loads
      {2, 3, 64, 64, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
      {1, 5, 32, 30, 1, {1, 1, 19}, {1, 1, 4}, {1, 1, 2}, {0, 0, 3}, {1, 1, 2}},
      {1, 2, 16, 24, 1, {1, 1, 1301}, {1, 1, 5}, {1, 1, 2}, {0, 0, 2}, {1, 1, 1}},  // parts of a row per load
      {2, 1, 16, 16, 1, {1, 2, 1100}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
      {3, 2, 8, 40, 1, {4, 5, 6}, {3, 2, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}},
  };
  for (const Case& c : cases) {
    INFO("case " << (&c - cases));
    check_against_loops(c);
  }
  const Variable x = leaf({0, 64, 5, 5}), w = leaf({64, 64, 3, 3});
  const Variable y = ebb::conv2d(x, w, {}, 1, 1);
  CHECK(y.sizes() == ebb::IntArrayRef({0, 64, 5, 5}));
  CHECK(top(ebb::autograd::grad({y}, {w}, {ebb::ones_like(y)})[0]) == 0);
}

TEST_CASE("convolutions of many channels do not depend on the number of threads") {
  struct Layer {
    std::int64_t batch, in, out, size, kernel, stride, groups = 1;
    ebb::MemoryFormat format = ebb::MemoryFormat::Contiguous;
  };
  const auto last = ebb::MemoryFormat::ChannelsLast;
  for (const Layer& l :
       {Layer{5, 64, 64, 23, 3, 1}, Layer{3, 70, 96, 14, 3, 2}, Layer{2, 130, 40, 30, 1, 1},
        Layer{9, 3, 64, 37, 7, 2}, Layer{7, 96, 130, 7, 3, 1}, Layer{3, 70, 96, 14, 3, 2, 1, last},
        Layer{2, 130, 48, 30, 1, 1, 1, last}, Layer{9, 200, 200, 20, 3, 2, 200, last}}) {
    INFO(l.in << " to " << l.out << " channels in " << l.groups << " groups");
    const Variable x =
        ramp({l.batch, l.in, l.size, l.size}).to(ebb::kFloat).contiguous(l.format).requires_grad_();
    const Variable w = ramp({l.out, l.in / l.groups, l.kernel, l.kernel}).to(ebb::kFloat).requires_grad_();
    const auto run = [&] { return ebb::conv2d(x, w, {}, l.stride, l.kernel / 2, 1, l.groups); };
    const Variable y = run(), g = y.detach().sin();
    check_threads(run);
    check_threads([&] { return ebb::autograd::grad({run()}, {x}, {g})[0]; });
    check_threads([&] { return ebb::autograd::grad({run()}, {w}, {g})[0]; });
  }
}

TEST_CASE("gradgradcheck accepts the second derivatives of convolutions") {
  const Case cases[] = {
      {2, 1, 2, 3, 1, {1, 5, 4}, {1, 3, 2}, {1, 1, 1}, {0, 1, 0}, {1, 1, 1}},
      {2, 1, 2, 2, 2, {1, 5, 5}, {1, 2, 2}, {1, 2, 2}, {0, 1, 1}, {1, 1, 2}},
      {1, 2, 2, 2, 1, {1, 1, 6}, {1, 1, 3}, {1, 1, 2}, {0, 0, 1}, {1, 1, 1}},
      {3, 1, 1, 2, 1, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
  };
  for (const Case& c : cases) {
    const Variable x = leaf(shape(c.batch, c.in, last(c.size, c.dims)));
    const Variable w = leaf(shape(c.out, c.in / c.groups, last(c.kernel, c.dims)), 1), b = leaf({c.out}, 2);
    check_grads([&](const Variable& p, const Variable& q, const Variable& r) { return conv(c, p, q, r); },
                {x, w, b});
  }
  check_grads([](const Variable& x, const Variable& w,
                 const Variable& b) { return ebb::conv_transpose2d(x, w, b, {2, 1}, 1, {1, 0}, 1, {1, 2}); },
              {leaf({1, 2, 3, 3}), leaf({2, 2, 2, 3}, 1), leaf({2}, 2)});
  // Third derivatives: convolution is bilinear, so the third derivative of its square is not zero.
  const Variable x = leaf({1, 1, 4, 4}), w = leaf({1, 1, 2, 2}, 1);
  check_grads(
      [](const Variable& p, const Variable& q) {
        ebb::EnableGradGuard enable;
        return ebb::autograd::grad({ebb::conv2d(p, q).pow(2).sum()}, {p}, {}, true, true)[0];
      },
      {x, w});
}

TEST_CASE("convolutions accept padding by name, unbatched inputs and every layout") {
  const Variable x = ramp({2, 3, 9, 8}), w = ramp({4, 3, 4, 3}, 1), b = ramp({4}, 2);
  const Variable same = ebb::conv2d(x, w, b, 1, "same", {1, 2});
  CHECK(same.sizes() == ebb::IntArrayRef({2, 4, 9, 8}));
  const Variable padded = ebb::zeros({2, 3, 12, 12}, ebb::kDouble);
  padded.slice(2, 1, 10).slice(3, 2, 10).copy_(x);
  CHECK(top(same - ebb::conv2d(padded, w, b, 1, 0, {1, 2})) < 1e-12);
  CHECK(top(ebb::conv2d(x, w, b, 2, "valid") - ebb::conv2d(x, w, b, 2)) == 0);
  const Variable one = ebb::conv2d(x.select(0, 1), w, b);
  CHECK(one.dim() == 3);
  CHECK(top(one - ebb::conv2d(x, w, b).select(0, 1)) == 0);
  CHECK(ebb::conv_transpose2d(x.select(0, 0), w.transpose(0, 1), ramp({4})).dim() == 3);
  const Variable strange = x.transpose(2, 3).contiguous().transpose(2, 3);
  CHECK(top(ebb::conv2d(strange, w, b) - ebb::conv2d(x, w, b)) == 0);
  for (const ebb::DType d : {ebb::kHalf, ebb::kBFloat16}) {
    const Variable low = ebb::conv2d(x.to(d), w.to(d), b.to(d));
    CHECK(low.dtype() == d);
    CHECK(top(low.to(ebb::kDouble) - ebb::conv2d(x, w, b)) < 0.1);
  }
  CHECK(ebb::conv2d(ebb::empty({0, 3, 9, 8}), w.to(ebb::kFloat)).sizes() == ebb::IntArrayRef({0, 4, 6, 6}));
  const Variable leafw = leaf({4, 3, 4, 3});
  ebb::conv2d(ebb::empty({0, 3, 9, 8}, ebb::kDouble), leafw).sum().backward();
  CHECK(top(leafw.grad()) == 0);
}

TEST_CASE("graph nodes of convolutions have the names of torch") {
  const Variable x = leaf({1, 2, 5, 5}), w = leaf({3, 2, 2, 2});
  CHECK(ebb::conv2d(x, w).grad_fn()->name() == "ConvolutionBackward0");
  CHECK(ebb::conv_transpose2d(x, leaf({2, 3, 2, 2})).grad_fn()->name() == "ConvolutionBackward0");
  const auto g = ebb::autograd::grad({ebb::conv2d(x, w).pow(2).sum()}, {x, w}, {}, true, true);
  CHECK(g[0].grad_fn()->name() == "ConvolutionBackwardBackward0");
  CHECK(g[1].grad_fn()->name() == "ConvolutionBackwardBackward0");
}

TEST_CASE("convolutions do not depend on the number of threads") {
  const Variable x = ramp({9, 16, 20, 20}).to(ebb::kFloat), w = ramp({24, 16, 3, 3}).to(ebb::kFloat);
  check_threads([&] { return ebb::conv2d(x, w, {}, 1, 1); });
  const Variable wide = ramp({24, 16, 3, 20}).to(ebb::kFloat);
  check_threads([&] { return ebb::conv2d(x, wide); });
  for (const Variable& weight : {w, wide}) {
    const auto grads = [&](int which) {
      const Variable a = x.clone().requires_grad_(true), b = weight.clone().requires_grad_(true);
      return ebb::autograd::grad({ebb::conv2d(a, b).pow(2).sum()}, {a, b})[static_cast<std::size_t>(which)];
    };
    check_threads([&] { return grads(0); });
    check_threads([&] { return grads(1); });
  }
}

TEST_CASE("error messages of convolutions contain the op and both shapes") {
  const Variable x = ramp({2, 3, 5, 5}), w = ramp({4, 3, 3, 3});
  check_error([&] { ebb::conv2d(x, ramp({4, 2, 3, 3})); }, {"conv2d", "[4, 2, 3, 3]", "[2, 3, 5, 5]"});
  check_error([&] { ebb::conv2d(x, ramp({4, 3, 6, 6})); }, {"conv2d", "[6, 6]", "[2, 3, 5, 5]"});
  check_error([&] { ebb::conv2d(x, ramp({4, 3, 3})); }, {"conv2d", "[4, 3, 3]"});
  check_error([&] { ebb::conv2d(ramp({5, 5}), w); }, {"conv2d", "[5, 5]"});
  check_error([&] { ebb::conv2d(x, w, ramp({3})); }, {"conv2d", "[4]", "[3]"});
  check_error([&] { ebb::conv2d(x, w, {}, 0); }, {"conv2d", "stride"});
  check_error([&] { ebb::conv2d(x, w, {}, 1, -1); }, {"conv2d", "padding"});
  check_error([&] { ebb::conv2d(x, w, {}, {1, 1, 1}); }, {"conv2d", "stride"});
  check_error([&] { ebb::conv2d(x, w, {}, 2, "same"); }, {"conv2d", "same"});
  check_error([&] { ebb::conv2d(x, w, {}, 1, "full"); }, {"conv2d", "full"});
  check_error([&] { ebb::conv2d(x, w, {}, 1, 0, 1, 2); }, {"conv2d", "groups"});
  check_error([&] { ebb::conv2d(x, w.to(ebb::kFloat)); }, {"conv2d", "Double", "Float"});
  check_error([&] { ebb::conv_transpose2d(x, ramp({3, 4, 3, 3}), {}, 1, 0, 1); }, {"output_padding"});
}

// Accuracy of single precision: sums over many products are as accurate as blockwise sums.

using ebb::Variable;

namespace {

struct Layer {
  const char* name;
  std::int64_t batch, in, out, size, kernel, stride, padding, groups;
  double bar = 2.4e-7;
};

double distance(const Variable& x, const Variable& exact) {
  return ((x.to(ebb::kDouble) - exact).norm() / exact.norm()).item<double>();
}

}  // namespace

TEST_CASE("float convolutions are as accurate as blockwise sums") {
  // Layers of VGG16, ResNet-50 and EfficientNet on few small images, and kernels as large as the image.
  const Layer layers[] = {
      {"3x3 of 64", 1, 64, 64, 28, 3, 1, 1, 1},
      {"3x3 of 512", 1, 512, 512, 7, 3, 1, 1, 1},
      {"3x3 of large images", 4, 3, 64, 112, 3, 1, 1, 1},
      {"7x7 with a stride", 2, 3, 64, 112, 7, 2, 3, 1},
      {"1x1 of 2048", 1, 2048, 128, 7, 1, 1, 0, 1},
      {"1x1 with a stride", 2, 512, 1024, 14, 1, 2, 0, 1},
      {"3x3 with a stride", 1, 256, 256, 14, 3, 2, 1, 1},
      {"3x3 by channel", 8, 32, 32, 56, 3, 1, 1, 32},
      {"5x5 by channel with a stride", 16, 32, 32, 56, 5, 2, 2, 32},
      {"8x8 of 8x8", 4, 32, 32, 8, 8, 1, 0, 1},
      {"32x32 of 33x33", 8, 8, 16, 33, 32, 1, 0, 1, 4e-7},
  };
  ebb::manual_seed(11);
  for (const Layer& l : layers) {
    INFO(l.name);
    const Variable x = ebb::randn({l.batch, l.in, l.size, l.size});
    const Variable w = ebb::randn({l.out, l.in / l.groups, l.kernel, l.kernel});
    const Variable g = ebb::randn(ebb::conv2d(x, w, {}, l.stride, l.padding, 1, l.groups).sizes().vec());
    const auto results = [&](ebb::DType dtype, ebb::MemoryFormat format) {
      const Variable a = x.to(dtype).contiguous(format).clone().requires_grad_();
      const Variable b = w.to(dtype).clone().requires_grad_();
      const Variable y = ebb::conv2d(a, b, {}, l.stride, l.padding, 1, l.groups);
      auto all = ebb::autograd::grad({y}, {a, b}, {g.to(dtype)});
      all.push_back(y.detach());
      return all;
    };
    const auto exact = results(ebb::kDouble, ebb::MemoryFormat::Contiguous);
    for (const auto format : {ebb::MemoryFormat::Contiguous, ebb::MemoryFormat::ChannelsLast}) {
      const auto single = results(ebb::kFloat, format);
      CHECK(distance(single[2], exact[2]) < l.bar);
      CHECK(distance(single[0], exact[0]) < l.bar);
      CHECK(distance(single[1], exact[1]) < l.bar);
    }
  }
}

TEST_CASE("float matrix products are as accurate as blockwise sums") {
  ebb::manual_seed(12);
  for (const std::int64_t depth : {512, 4608}) {
    const Variable a = ebb::randn({48, depth}), b = ebb::randn({depth, 64});
    const auto exact = ebb::matmul(a.to(ebb::kDouble), b.to(ebb::kDouble));
    CHECK(distance(ebb::matmul(a, b), exact) < 3.5e-7);
    CHECK(distance(ebb::matmul(a, b.t().contiguous().t()), exact) < 3.5e-7);
  }
}
