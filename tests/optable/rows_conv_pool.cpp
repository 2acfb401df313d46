// Convolutions and pools.
#include "optable/rows.h"

namespace optable {
namespace {

using In = const variable_list&;
using V = const Variable&;
using Arrays = std::vector<Array>;

/// A 2-d convolution at stride 1 without padding.
Arrays convolved(const Arrays& in) {
  const auto n = in[0].sizes[0], c = in[0].sizes[1], h = in[0].sizes[2], w = in[0].sizes[3];
  const auto o = in[1].sizes[0], p = in[1].sizes[2], q = in[1].sizes[3];
  Array out{{n, o, h - p + 1, w - q + 1}, {}};
  for (std::int64_t b = 0; b < n; ++b)
    for (std::int64_t k = 0; k < o; ++k)
      for (std::int64_t y = 0; y + p <= h; ++y)
        for (std::int64_t x = 0; x + q <= w; ++x) {
          double s = in[2][static_cast<std::size_t>(k)];
          for (std::int64_t l = 0; l < c; ++l)
            for (std::int64_t i = 0; i < p; ++i)
              for (std::int64_t j = 0; j < q; ++j)
                s += in[0][static_cast<std::size_t>(((b * c + l) * h + y + i) * w + x + j)] *
                     in[1][static_cast<std::size_t>(((k * c + l) * p + i) * q + j)];
          out.values.push_back(s);
        }
  return {out};
}

/// 2 by 2 windows of planes whose sides are even.
Row::Reference pooled(bool maximum) {
  return [maximum](const Arrays& in) {
    const auto n = in[0].sizes[0], c = in[0].sizes[1], h = in[0].sizes[2], w = in[0].sizes[3];
    Array out{{n, c, h / 2, w / 2}, {}};
    for (std::int64_t b = 0; b < n * c; ++b)
      for (std::int64_t y = 0; y < h; y += 2)
        for (std::int64_t x = 0; x < w; x += 2) {
          const std::size_t at = static_cast<std::size_t>((b * h + y) * w + x),
                            down = at + static_cast<std::size_t>(w);
          double sum = 0, most = in[0][at];
          for (const std::size_t i : {at, at + 1, down, down + 1}) {
            sum += in[0][i];
            most = in[0][i] > most ? in[0][i] : most;
          }
          out.values.push_back(maximum ? most : sum / 4);
        }
    return Arrays{out};
  };
}

Row& conv(const char* name, Variable (*f)(V, V, V), Sizes x, Sizes w, Sizes b) {
  return row(name, [f](In v) { return variable_list{f(v[0], v[1], v[2])}; }).shapes({{x, w, b}});
}
Row& pool(const char* name, Variable (*f)(V), Sizes x) { return unary(name, f).shapes({{x}}); }

}  // namespace

void register_conv_pool() {
  conv("conv2d", [](V x, V w, V b) { return ebb::conv2d(x, w, b); }, {2, 2, 4, 3}, {2, 2, 2, 2}, {2})
      .reference(convolved)
      .error("", [] {
        ebb::conv2d(ebb::ones({1, 3, 4, 4}), ebb::ones({2, 2, 2, 2}));
      });
  conv("conv2d.stride", [](V x, V w, V b) { return ebb::conv2d(x, w, b, 2, 1); }, {1, 2, 4, 4}, {2, 2, 3, 3},
       {2});
  conv("conv2d.groups", [](V x, V w, V b) { return ebb::conv2d(x, w, b, 1, 1, 2, 2); }, {1, 2, 4, 4},
       {2, 1, 2, 2}, {2});
  conv("conv1d", [](V x, V w, V b) { return ebb::conv1d(x, w, b, 1, 1); }, {2, 2, 5}, {3, 2, 3}, {3});
  conv("conv3d", [](V x, V w, V b) { return ebb::conv3d(x, w, b); }, {1, 1, 3, 3, 2}, {2, 1, 2, 2, 1}, {2});
  conv("conv_transpose1d", [](V x, V w, V b) { return ebb::conv_transpose1d(x, w, b, 2); }, {1, 2, 3},
       {2, 2, 2}, {2});
  conv("conv_transpose2d", [](V x, V w, V b) { return ebb::conv_transpose2d(x, w, b, 2, 1, 1); },
       {1, 2, 2, 2}, {2, 1, 3, 3}, {1});
  pool("max_pool1d", [](V x) { return ebb::max_pool1d(x, 2); }, {1, 2, 6});
  pool("max_pool2d", [](V x) { return ebb::max_pool2d(x, 2); }, {1, 2, 4, 4}).reference(pooled(true));
  pool("max_pool3d", [](V x) { return ebb::max_pool3d(x, 2); }, {1, 1, 2, 4, 2});
  pool("avg_pool1d", [](V x) { return ebb::avg_pool1d(x, 2); }, {1, 2, 6});
  pool("avg_pool2d", [](V x) { return ebb::avg_pool2d(x, 2); }, {1, 2, 4, 4}).reference(pooled(false));
  pool("avg_pool2d.pad", [](V x) { return ebb::avg_pool2d(x, 3, 2, 1, true, false); }, {1, 1, 4, 4});
  pool("avg_pool3d", [](V x) { return ebb::avg_pool3d(x, 2); }, {1, 1, 2, 4, 2});
  pool("adaptive_avg_pool1d", [](V x) { return ebb::adaptive_avg_pool1d(x, 3); }, {1, 2, 5});
  pool("adaptive_avg_pool2d",
       [](V x) {
         return ebb::adaptive_avg_pool2d(x, {2, 2});
       },
       {1, 2, 4, 4})
      .reference(pooled(false));
  pool("adaptive_max_pool2d",
       [](V x) {
         return std::get<0>(ebb::adaptive_max_pool2d(x, {2, 2}));
       },
       {1, 2, 4, 4})
      .reference(pooled(true));
}

}  // namespace optable
