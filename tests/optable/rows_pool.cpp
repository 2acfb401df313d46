// Rows of max and average pooling.
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace optable {
namespace {

enum class Of { most, mean };

/// Output position o of an axis of `in` elements covers the elements from first to last (exclusive).
struct Window {
  std::int64_t size = 2, stride = 2, padding = 0, outputs = 0;  // outputs: adaptive
  bool ceil = false;  // adds one window for the remaining elements, if it starts before the trailing padding
  std::int64_t count(std::int64_t in) const {
    if (outputs) return outputs;
    const std::int64_t room = in + 2 * padding - size, whole = room / stride + 1;
    return whole + (ceil && room % stride != 0 && whole * stride - padding < in);
  }
  std::int64_t first(std::int64_t o, std::int64_t in) const {
    return outputs ? o * in / outputs : std::max<std::int64_t>(0, o * stride - padding);
  }
  std::int64_t last(std::int64_t o, std::int64_t in) const {
    return outputs ? ((o + 1) * in + outputs - 1) / outputs : std::min(in, o * stride - padding + size);
  }
};

/// Pools over all but the first two dimensions; the mean counts elements inside only.
Row::Reference pooled(Of kind, Window w = {}) {
  return [=](const Arrays& in) {
    const Array& x = in[0];
    Sizes sizes = x.sizes;
    for (std::size_t d = 2; d < sizes.size(); ++d) sizes[d] = w.count(sizes[d]);
    return Arrays{build(sizes, [&](const Index& o) {
      Index first = o;
      Sizes extent(sizes.size(), 1);
      for (std::size_t d = 2; d < sizes.size(); ++d) {
        first[d] = w.first(o[d], x.sizes[d]);
        extent[d] = w.last(o[d], x.sizes[d]) - first[d];
      }
      const Array window = build(extent, [&](Index i) {
        for (std::size_t d = 0; d < i.size(); ++d) i[d] += first[d];
        return x(i);
      });
      return kind == Of::most ? largest(window.values) : average(window.values);
    })};
  };
}

Row& pool(const char* name, Variable (*f)(V), Sizes x) { return unary(name, f).shapes({{x}}).roundings(4); }

void maxima() {
  pool("max_pool1d", [](V x) { return ebb::max_pool1d(x, 2); }, {1, 2, 6})
      .reference(pooled(Of::most))
      .error("padding", [] { ebb::max_pool1d(ebb::ones({1, 1, 4}), 2, 2, 2); });
  pool("max_pool2d", [](V x) { return ebb::max_pool2d(x, 2); }, {1, 2, 4, 4}).reference(pooled(Of::most));
  pool("max_pool2d.overlap", [](V x) { return ebb::max_pool2d(x, 3, 2, 1); }, {1, 2, 5, 4})
      .channels_last()
      .reference(pooled(Of::most, {.size = 3, .stride = 2, .padding = 1}));
  // The last window would start one element after the input, at its last element, and one before it.
  unary("max_pool2d.ceil", [](V x) { return ebb::max_pool2d(x, 2, 4, 1, 1, true); })
      .shapes({{{1, 2, 3, 4}}, {{1, 2, 5, 3}}})
      .roundings(4)
      .reference(pooled(Of::most, {.size = 2, .stride = 4, .padding = 1, .ceil = true}));
  pool("max_pool3d", [](V x) { return ebb::max_pool3d(x, 2); }, {1, 1, 2, 4, 2}).reference(pooled(Of::most));
  pool("adaptive_max_pool1d", [](V x) { return std::get<0>(ebb::adaptive_max_pool1d(x, 3)); }, {1, 2, 5})
      .reference(pooled(Of::most, {.outputs = 3}));
  pool("adaptive_max_pool2d", [](V x) { return std::get<0>(ebb::adaptive_max_pool2d(x, {3, 3})); },
       {1, 2, 4, 5})
      .channels_last()
      .reference(pooled(Of::most, {.outputs = 3}))
      .error("adaptive_max_pool2d", [] { ebb::adaptive_max_pool2d(ebb::ones({4}), {2, 2}); });
  pool("adaptive_max_pool3d", [](V x) { return std::get<0>(ebb::adaptive_max_pool3d(x, {2, 2, 2})); },
       {1, 1, 3, 2, 3})
      .reference(pooled(Of::most, {.outputs = 2}));
}

/// Returns the maximum of each pair along the last axis, and its row-major index in the channel.
Arrays greatest_of_pairs(const Arrays& in) {
  const Array& x = in[0];
  Sizes sizes = x.sizes;
  for (std::size_t d = 2; d < sizes.size(); ++d) sizes[d] /= 2;
  const auto search = [&](const Index& o, bool place) {
    double most = -std::numeric_limits<double>::infinity(), at = 0;
    Sizes cube(sizes.size(), 2);
    cube[0] = cube[1] = 1;
    build(cube, [&](Index k) {
      std::int64_t flat = 0;
      for (std::size_t d = 0; d < k.size(); ++d) {
        k[d] += d < 2 ? o[d] : 2 * o[d];
        if (d >= 2) flat = flat * x.sizes[d] + k[d];
      }
      if (x(k) > most) most = x(k), at = static_cast<double>(flat);
      return 0;
    });
    return place ? at : most;
  };
  return {build(sizes, [&](const Index& o) { return search(o, false); }),
          build(sizes, [&](const Index& o) { return search(o, true); })};
}

variable_list list_of(const std::tuple<Variable, Variable>& t) { return {std::get<0>(t), std::get<1>(t)}; }

void places() {
  const auto indexed = [](const char* name, variable_list (*f)(V), Sizes x) {
    row(name, [f](In v) { return f(v[0]); }).shapes({{x}}).reference(greatest_of_pairs);
  };
  indexed("max_pool1d_with_indices", [](V x) { return list_of(ebb::max_pool1d_with_indices(x, 2)); },
          {1, 2, 6});
  indexed("max_pool2d_with_indices", [](V x) { return list_of(ebb::max_pool2d_with_indices(x, 2)); },
          {1, 2, 4, 4});
  indexed("max_pool3d_with_indices", [](V x) { return list_of(ebb::max_pool3d_with_indices(x, 2)); },
          {1, 1, 2, 4, 2});
  // Element k of each channel is written to position 5 - 2 k.
  const auto spread_out = [](const Arrays& in, const Index& i, std::int64_t places) {
    std::int64_t flat = 0;
    for (std::size_t d = 2; d < i.size(); ++d) flat = flat * places + i[d];
    return flat % 2 == 1 && flat < 6 ? in[0][static_cast<std::size_t>(3 * i[1] + (5 - flat) / 2)] : 0;
  };
  const auto line = [](std::size_t, std::size_t input) {
    return input == 1 ? ebb::tensor({5, 3, 1, 5, 3, 1}, ebb::kLong) : Variable();
  };
  row("max_unpool2d",
      [](In x) { return variable_list{ebb::max_unpool2d(x[0], x[1].view(x[0].sizes()), {2, 3})}; })
      .shapes({{{1, 2, 1, 3}, {6}}})
      .special(line)
      .reference(built({1, 2, 2, 3}, [=](const Arrays& in, const Index& i) { return spread_out(in, i, 3); }))
      .error("max_unpool2d",
             [] { ebb::max_unpool2d(ebb::ones({1, 1, 1, 1}), ebb::full({1, 1, 1, 1}, 9), {2, 2}); });
  row("max_unpool3d",
      [](In x) {
        return variable_list{
            ebb::max_unpool3d(x[0], x[1].view(x[0].sizes()), {2, 2, 2}, {2, 2, 2}, {0, 0, 0})};
      })
      .shapes({{{1, 2, 1, 1, 3}, {6}}})
      .special(line)
      .reference(
          built({1, 2, 2, 2, 2}, [=](const Arrays& in, const Index& i) { return spread_out(in, i, 2); }));
}

void means() {
  pool("avg_pool1d", [](V x) { return ebb::avg_pool1d(x, 2); }, {1, 2, 6}).reference(pooled(Of::mean));
  pool("avg_pool2d", [](V x) { return ebb::avg_pool2d(x, 2); }, {1, 2, 4, 4})
      .channels_last()
      .reference(pooled(Of::mean))
      .error("divisor", [] { ebb::avg_pool2d(ebb::ones({1, 1, 2, 2}), 2, {}, 0, false, true, 0); });
  pool("avg_pool2d.pad", [](V x) { return ebb::avg_pool2d(x, 3, 2, 1, false, false); }, {1, 1, 4, 5})
      .reference(pooled(Of::mean, {.size = 3, .stride = 2, .padding = 1}));
  unary("avg_pool2d.ceil", [](V x) { return ebb::avg_pool2d(x, 2, 4, 1, true, false); })
      .shapes({{{1, 2, 3, 4}}, {{1, 2, 5, 3}}})
      .roundings(4)
      .reference(pooled(Of::mean, {.size = 2, .stride = 4, .padding = 1, .ceil = true}));
  // If padding counts, the divisor ends with the padding: it is 2 for the last window of 3.
  pool("avg_pool1d.ceil", [](V x) { return ebb::avg_pool1d(x, 3, 2, 1, true); }, {1, 2, 4})
      .reference([](const Arrays& in) {
        const auto at = [&](const Index& o, std::int64_t i) { return in[0]({o[0], o[1], i}); };
        return Arrays{build({1, 2, 3}, [&](const Index& o) {
          if (o[2] == 0) return (at(o, 0) + at(o, 1)) / 3;
          return o[2] == 1 ? (at(o, 1) + at(o, 2) + at(o, 3)) / 3 : at(o, 3) / 2;
        })};
      });
  unary("avg_pool2d.integers", [](V x) { return ebb::avg_pool2d(x, 2, 2, 0, false, true, -3); })
      .shapes({{{1, 2, 4, 4}}})
      .integers(0, -50, 50)
      .order(0, "integers have no derivative")
      .reference([](const Arrays& in) {
        Arrays out = pooled(Of::mean)(in);
        for (double& v : out[0].values) v = std::trunc(v * 4 / -3);
        return out;
      });
  pool("avg_pool2d.divisor", [](V x) { return ebb::avg_pool2d(x, 2, {}, 0, false, true, 8); }, {1, 1, 4, 4})
      .reference([](const Arrays& in) {
        Arrays out = pooled(Of::mean)(in);
        for (double& v : out[0].values) v /= 2;
        return out;
      });
  pool("avg_pool3d", [](V x) { return ebb::avg_pool3d(x, 2); }, {1, 1, 2, 4, 2}).reference(pooled(Of::mean));
  pool("adaptive_avg_pool1d", [](V x) { return ebb::adaptive_avg_pool1d(x, 3); }, {1, 2, 5})
      .reference(pooled(Of::mean, {.outputs = 3}));
  pool("adaptive_avg_pool2d", [](V x) { return ebb::adaptive_avg_pool2d(x, {3, 3}); }, {1, 2, 4, 5})
      .channels_last()
      .reference(pooled(Of::mean, {.outputs = 3}))
      .error("adaptive_avg_pool2d", [] { ebb::adaptive_avg_pool2d(ebb::ones({4}), {2, 2}); });
  pool("adaptive_avg_pool3d", [](V x) { return ebb::adaptive_avg_pool3d(x, {2, 2, 2}); }, {1, 1, 3, 2, 3})
      .reference(pooled(Of::mean, {.outputs = 2}));
}

}  // namespace

void register_pool() {
  family("pool");
  maxima();
  places();
  means();
}

}  // namespace optable
