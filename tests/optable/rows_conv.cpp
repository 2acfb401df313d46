// Rows of convolutions, padding, im2col and col2im.
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>

namespace optable {
namespace {

/// A geometry that is the same along every axis.
struct Geometry {
  std::int64_t stride = 1, padding = 0, dilation = 1, groups = 1, output_padding = 0;
};

/// Calls f(k, q) for every position k of the kernel; where[d] is the position on axis d of window `out` at
/// kernel position k.
template <class F>
void for_each_tap(const Sizes& kernel, const Index& out, const Geometry& g, F f) {
  Index where(out.size());
  build(kernel, [&](const Index& k) {
    for (std::size_t d = 0; d < out.size(); ++d) where[d] = out[d] * g.stride + k[d] * g.dilation - g.padding;
    f(k, where);
    return 0;
  });
}

bool inside(const Index& place, const Sizes& sizes) {
  for (std::size_t d = 0; d < place.size(); ++d)
    if (place[d] < 0 || place[d] >= sizes[d + 2]) return false;
  return true;
}

Index join(std::int64_t a, std::int64_t b, const Index& rest) {
  Index all{a, b};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

Row::Reference correlated(Geometry g) {
  return [g](const Arrays& in) {
    const Array &x = in[0], &w = in[1];
    const Sizes kernel(w.sizes.begin() + 2, w.sizes.end());
    Sizes sizes{x.size(0), w.size(0)};
    for (std::size_t d = 0; d < kernel.size(); ++d)
      sizes.push_back((x.sizes[d + 2] + 2 * g.padding - g.dilation * (kernel[d] - 1) - 1) / g.stride + 1);
    const std::int64_t per_group = w.size(0) / g.groups;
    return Arrays{build(sizes, [&](const Index& o) {
      double s = in[2]({o[1]});
      for_each_tap(kernel, Index(o.begin() + 2, o.end()), g, [&](const Index& k, const Index& at) {
        if (!inside(at, x.sizes)) return;
        for (std::int64_t c = 0; c < w.size(1); ++c)
          s += x(join(o[0], o[1] / per_group * w.size(1) + c, at)) * w(join(o[1], c, k));
      });
      return s;
    })};
  };
}

Row::Reference transposed(Geometry g) {
  return [g](const Arrays& in) {
    const Array &x = in[0], &w = in[1];
    const Sizes kernel(w.sizes.begin() + 2, w.sizes.end());
    Sizes sizes{x.size(0), w.size(1) * g.groups};
    for (std::size_t d = 0; d < kernel.size(); ++d)
      sizes.push_back((x.sizes[d + 2] - 1) * g.stride - 2 * g.padding + g.dilation * (kernel[d] - 1) +
                      g.output_padding + 1);
    Array out = build(sizes, [&](const Index& o) { return in[2]({o[1]}); });
    const std::int64_t per_group = x.size(1) / g.groups;
    build(x.sizes, [&](const Index& i) {
      for_each_tap(kernel, Index(i.begin() + 2, i.end()), g, [&](const Index& k, const Index& at) {
        if (!inside(at, sizes)) return;
        for (std::int64_t c = 0; c < w.size(1); ++c) {
          const Index to = join(i[0], i[1] / per_group * w.size(1) + c, at);
          std::size_t flat = 0;
          for (std::size_t d = 0; d < to.size(); ++d)
            flat = flat * static_cast<std::size_t>(sizes[d]) + static_cast<std::size_t>(to[d]);
          out.values[flat] += x(i) * w(join(i[1], c, k));
        }
      });
      return 0;
    });
    return Arrays{out};
  };
}

using Function = Variable (*)(V, V, V);

Row& conv(const char* name, Function f, Sizes x, Sizes w, Geometry g = {}) {
  const std::int64_t out = w[0];
  return row(name, [f](In v) { return variable_list{f(v[0], v[1], v[2])}; })
      .shapes({{x, w, {out}}})
      .roundings(8)
      .reference(correlated(g));
}
Row& deconv(const char* name, Function f, Sizes x, Sizes w, Geometry g) {
  const std::int64_t out = w[1] * g.groups;
  return row(name, [f](In v) { return variable_list{f(v[0], v[1], v[2])}; })
      .shapes({{x, w, {out}}})
      .roundings(8)
      .reference(transposed(g));
}

}  // namespace

void register_conv() {
  family("conv");
  conv("conv1d", [](V x, V w, V b) { return ebb::conv1d(x, w, b, 1, 1); }, {2, 2, 5}, {3, 2, 3},
       {.padding = 1});
  conv("conv2d", [](V x, V w, V b) { return ebb::conv2d(x, w, b); }, {2, 2, 4, 3}, {2, 2, 2, 2})
      .error("channels", [] { ebb::conv2d(ebb::ones({1, 3, 4, 4}), ebb::ones({2, 2, 2, 2})); })
      .error("kernel", [] { ebb::conv2d(ebb::ones({1, 1, 2, 2}), ebb::ones({1, 1, 3, 3})); });
  conv("conv2d.stride", [](V x, V w, V b) { return ebb::conv2d(x, w, b, 2, 1); }, {1, 2, 4, 4}, {2, 2, 3, 3},
       {.stride = 2, .padding = 1});
  conv("conv2d.groups", [](V x, V w, V b) { return ebb::conv2d(x, w, b, 1, 1, 2, 2); }, {1, 2, 4, 4},
       {2, 1, 2, 2}, {.padding = 1, .dilation = 2, .groups = 2});
  conv("conv2d.same", [](V x, V w, V b) { return ebb::conv2d(x, w, b, 1, "same"); }, {1, 2, 3, 4},
       {2, 2, 3, 3}, {.padding = 1})
      .error("same", [] { ebb::conv2d(ebb::ones({1, 1, 4, 4}), ebb::ones({1, 1, 3, 3}), {}, 2, "same"); });
  conv("conv3d", [](V x, V w, V b) { return ebb::conv3d(x, w, b); }, {1, 1, 3, 3, 2}, {2, 1, 2, 2, 1});
  deconv("conv_transpose1d", [](V x, V w, V b) { return ebb::conv_transpose1d(x, w, b, 2); }, {1, 2, 3},
         {2, 2, 2}, {.stride = 2})
      .error("output_padding",
             [] { ebb::conv_transpose1d(ebb::ones({1, 2, 3}), ebb::ones({2, 2, 2}), {}, 1, 0, 1); });
  deconv("conv_transpose2d", [](V x, V w, V b) { return ebb::conv_transpose2d(x, w, b, 2, 1, 1); },
         {1, 2, 2, 2}, {2, 1, 3, 3}, {.stride = 2, .padding = 1, .output_padding = 1});
  deconv("conv_transpose2d.groups",
         [](V x, V w, V b) { return ebb::conv_transpose2d(x, w, b, 1, 0, 0, 2, 2); }, {1, 2, 2, 3},
         {2, 2, 2, 2}, {.dilation = 2, .groups = 2});
  deconv("conv_transpose3d", [](V x, V w, V b) { return ebb::conv_transpose3d(x, w, b, 2); }, {1, 1, 2, 1, 2},
         {1, 2, 2, 2, 1}, {.stride = 2});
  conv("convolution", [](V x, V w, V b) { return ebb::convolution(x, w, b, 2, 1, 1, false, 0, 1); },
       {1, 2, 4, 4}, {2, 2, 3, 3}, {.stride = 2, .padding = 1});
  conv("convolution_relu", [](V x, V w, V b) { return ebb::convolution_relu(x, w, b, 1, 1); }, {1, 2, 3, 4},
       {3, 2, 3, 3}, {.padding = 1})
      .reference([](const Arrays& in) {
        Arrays out = correlated({.padding = 1})(in);
        for (double& v : out[0].values) v = v > 0 ? v : 0;
        return out;
      });
  conv("convolution_relu.groups", [](V x, V w, V b) { return ebb::convolution_relu(x, w, b, 2, 0, 1, 2); },
       {2, 2, 5}, {2, 1, 2}, {.stride = 2, .groups = 2})
      .reference([](const Arrays& in) {
        Arrays out = correlated({.stride = 2, .groups = 2})(in);
        for (double& v : out[0].values) v = v > 0 ? v : 0;
        return out;
      });
  deconv("convolution.transposed",
         [](V x, V w, V b) { return ebb::convolution(x, w, b, 2, 1, 1, true, 1, 1); }, {1, 2, 2, 2},
         {2, 1, 3, 3}, {.stride = 2, .padding = 1, .output_padding = 1});
}

// Padding, im2col and col2im.

namespace {

Row& matrix(const char* name, Variable (*f)(V)) { return unary(name, f).shapes({{{3, 4}}}); }

std::int64_t mirrored(std::int64_t i, std::int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }
std::int64_t nearest(std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); }
std::int64_t around(std::int64_t i, std::int64_t n) { return (i + n) % n; }

/// Padding of the last dimensions: element i of the result is element of(i - before, n) of the input.
Row& padded(const char* name, Variable (*f)(V), Sizes from, Sizes to, Sizes before,
            std::int64_t (*of)(std::int64_t, std::int64_t)) {
  return unary(name, f).shapes({{from}}).roundings(4).reference(picked(to, [=](Index i) {
    const std::size_t skip = from.size() - before.size();
    for (std::size_t d = 0; d < before.size(); ++d) i[skip + d] = of(i[skip + d] - before[d], from[skip + d]);
    return i;
  }));
}

void pads() {
  matrix("constant_pad_nd", [](V x) { return ebb::constant_pad_nd(x, {1, 2}, 3); })
      .reference(picked(
          {3, 7}, [](const Index& i) { return i[1] < 1 || i[1] > 4 ? Index{} : Index{i[0], i[1] - 1}; }, 3))
      .error("pad", [] { ebb::constant_pad_nd(ebb::ones({3}), {1, 1, 1, 1}); });
  matrix("pad", [](V x) { return ebb::pad(x, {1, 0, -1, 2}); })
      .reference(picked(
          {4, 5}, [](const Index& i) { return i[1] < 1 || i[0] > 1 ? Index{} : Index{i[0] + 1, i[1] - 1}; }))
      .error("mode", [] { ebb::pad(ebb::ones({3}), {1, 1}, "mirror"); });
  padded(
      "pad.circular", [](V x) { return ebb::pad(x, {2, 1}, "circular"); }, {2, 3, 4}, {2, 3, 7}, {2}, around);
  padded(
      "reflection_pad1d", [](V x) { return ebb::reflection_pad1d(x, {2, 1}); }, {2, 3, 4}, {2, 3, 7}, {2},
      mirrored)
      .error("reflection_pad", [] { ebb::reflection_pad1d(ebb::ones({1, 1, 2}), {2, 0}); });
  padded(
      "replication_pad1d", [](V x) { return ebb::replication_pad1d(x, {2, 1}); }, {2, 3, 4}, {2, 3, 7}, {2},
      nearest)
      .error("replication_pad1d", [] { ebb::replication_pad1d(ebb::ones({2}), {1, 0}); });
  padded(
      "reflection_pad2d", [](V x) { return ebb::reflection_pad2d(x, {2, 1, 1, 0}); }, {1, 2, 3, 3},
      {1, 2, 4, 6}, {1, 2}, mirrored);
  padded(
      "replication_pad2d", [](V x) { return ebb::replication_pad2d(x, {2, 1, 1, 0}); }, {1, 2, 3, 3},
      {1, 2, 4, 6}, {1, 2}, nearest);
  padded(
      "reflection_pad3d", [](V x) { return ebb::reflection_pad3d(x, {1, 0, 1, 1, 0, 1}); }, {1, 1, 2, 3, 2},
      {1, 1, 3, 5, 3}, {0, 1, 1}, mirrored);
  padded(
      "replication_pad3d", [](V x) { return ebb::replication_pad3d(x, {1, 0, 1, 1, 0, 2}); }, {1, 1, 2, 2, 2},
      {1, 1, 4, 4, 3}, {0, 1, 1}, nearest);
}

// 2 x 2 windows of a 3 x 4 image: along the rows with dilation 2 and padding 1, along the columns with stride
// 2. Returns the position k of window b, or nothing if it is in the padding.
Index spread(std::int64_t k, std::int64_t b) {
  const std::int64_t y = b / 2 + 2 * (k / 2) - 1, x = b % 2 * 2 + k % 2;
  return y < 0 || y > 2 ? Index{} : Index{0, 0, y, x};
}

void columns() {
  unary("im2col.spread", [](V x) { return ebb::im2col(x, {2, 2}, {2, 1}, {1, 0}, {1, 2}); })
      .shapes({{{1, 1, 3, 4}}})
      .reference(picked({1, 4, 6}, [](const Index& i) { return spread(i[1], i[2]); }));
  unary("col2im.spread", [](V x) { return ebb::col2im(x, {3, 4}, {2, 2}, {2, 1}, {1, 0}, {1, 2}); })
      .shapes({{{1, 4, 6}}})
      .roundings(4)
      .reference(built({1, 1, 3, 4}, [](const Arrays& in, const Index& i) {
        double s = 0;
        for (std::int64_t k = 0; k < 4; ++k)
          for (std::int64_t b = 0; b < 6; ++b)
            if (spread(k, b) == i) s += in[0]({0, k, b});
        return s;
      }));
  // 2 x 2 windows with stride 1 of a 3 x 3 image: window b is at (b / 2, b % 2).
  unary("im2col", [](V x) { return ebb::im2col(x, {2, 2}, {1, 1}, {0, 0}, {1, 1}); })
      .shapes({{{1, 2, 3, 3}}})
      .reference(picked(
          {1, 8, 4},
          [](const Index& i) { return Index{0, i[1] / 4, i[2] / 2 + i[1] % 4 / 2, i[2] % 2 + i[1] % 2}; }))
      .error("im2col", [] { ebb::im2col(ebb::ones({1, 2, 3, 3}), {4, 4}, {1, 1}, {0, 0}, {1, 1}); });
  unary("col2im", [](V x) { return ebb::col2im(x, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}); })
      .shapes({{{1, 8, 4}}})
      .roundings(4)
      .reference(built({1, 2, 3, 3},
                       [](const Arrays& in, const Index& i) {
                         double s = 0;
                         for (std::int64_t k = 0; k < 4; ++k)
                           for (std::int64_t b = 0; b < 4; ++b)
                             if (b / 2 + k / 2 == i[2] && b % 2 + k % 2 == i[3])
                               s += in[0]({0, i[1] * 4 + k, b});
                         return s;
                       }))
      .error("col2im", [] { ebb::col2im(ebb::ones({1, 8, 5}), {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}); });
}

}  // namespace

void register_pad() {
  family("shape");
  pads();
  columns();
}

}  // namespace optable
