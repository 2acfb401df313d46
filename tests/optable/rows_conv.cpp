// Convolutions.
#include "optable/reference.h"
#include "optable/table.h"

namespace optable {
namespace {

/// The same along every axis.
struct Geometry {
  std::int64_t stride = 1, padding = 0, dilation = 1, groups = 1, output_padding = 0;
};

/// f(k, q) for every place k of the kernel; where[d] is the axis' place of window `out` under kernel place k.
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
      .error("channels",
             [] {
               ebb::conv2d(ebb::ones({1, 3, 4, 4}), ebb::ones({2, 2, 2, 2}));
             })
      .error("kernel", [] {
        ebb::conv2d(ebb::ones({1, 1, 2, 2}), ebb::ones({1, 1, 3, 3}));
      });
  conv("conv2d.stride", [](V x, V w, V b) { return ebb::conv2d(x, w, b, 2, 1); }, {1, 2, 4, 4}, {2, 2, 3, 3},
       {.stride = 2, .padding = 1});
  conv("conv2d.groups", [](V x, V w, V b) { return ebb::conv2d(x, w, b, 1, 1, 2, 2); }, {1, 2, 4, 4},
       {2, 1, 2, 2}, {.padding = 1, .dilation = 2, .groups = 2});
  conv("conv2d.same", [](V x, V w, V b) { return ebb::conv2d(x, w, b, 1, "same"); }, {1, 2, 3, 4},
       {2, 2, 3, 3}, {.padding = 1})
      .error("same", [] {
        ebb::conv2d(ebb::ones({1, 1, 4, 4}), ebb::ones({1, 1, 3, 3}), {}, 2, "same");
      });
  conv("conv3d", [](V x, V w, V b) { return ebb::conv3d(x, w, b); }, {1, 1, 3, 3, 2}, {2, 1, 2, 2, 1});
  deconv("conv_transpose1d", [](V x, V w, V b) { return ebb::conv_transpose1d(x, w, b, 2); }, {1, 2, 3},
         {2, 2, 2}, {.stride = 2})
      .error("output_padding", [] {
        ebb::conv_transpose1d(ebb::ones({1, 2, 3}), ebb::ones({2, 2, 2}), {}, 1, 0, 1);
      });
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

}  // namespace optable
