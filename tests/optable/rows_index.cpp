// Rows of gather, scatter, masks and indexing.
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>

namespace optable {
namespace {

// Indices along dimension 0 of a 3 x 3 matrix, each at most once per column.
const std::int64_t kPlaces[] = {0, 2, 1, 1, 0, 2};
Variable longs(std::vector<std::int64_t> values, const Sizes& sizes) {
  return ebb::tensor(values, ebb::kLong).view(sizes);
}
Variable places(std::size_t, std::size_t input) {
  return input == 1 ? longs({std::begin(kPlaces), std::end(kPlaces)}, {2, 3}) : Variable();
}
// Returns the indices of two different rows.
Variable line(std::size_t, std::size_t input) { return input == 1 ? longs({2, 0}, {2}) : Variable(); }

using Two = Variable (*)(V x, V index);
using Three = Variable (*)(V x, V index, V source);

Row& reading(const char* name, Two f, Sizes x) {
  return row(name, [f](In v) { return variable_list{f(v[0], v[1])}; }).shapes({{x, {2, 3}}}).special(places);
}
Row& writing(const char* name, Three f) {
  return row(name, [f](In v) { return variable_list{f(v[0], v[1], v[2])}; })
      .shapes({{{3, 3}, {2, 3}, {2, 3}}})
      .special(places);
}
Row& on_line(const char* name, Three f) {
  return row(name, [f](In v) { return variable_list{f(v[0], v[1], v[2])}; })
      .shapes({{{3, 4}, {2}, {2, 4}}})
      .special(line);
}

Arrays gathered(const Arrays& in) {
  return {build({2, 3}, [&](const Index& i) { return in[0]({static_cast<std::int64_t>(in[1](i)), i[1]}); })};
}

/// Applies combine(old, new) at every index along dimension 0 of x.
Row::Reference scattered(double (*combine)(double, double)) {
  return [combine](const Arrays& in) {
    Array out = in[0];
    for (std::size_t i = 0; i < 6; ++i) {
      double& x = out.values[static_cast<std::size_t>(in[1][i]) * 3 + i % 3];
      x = combine(x, in.size() > 2 ? in[2][i] : 1.5);
    }
    return Arrays{out};
  };
}
double replaced(double, double y) { return y; }
double added(double x, double y) { return x + y; }

/// Applies combine(old, new) in the rows of x that the index selects.
Row::Reference on_rows(double (*combine)(double, double)) {
  return [combine](const Arrays& in) {
    Array out = in[0];
    const std::size_t n = static_cast<std::size_t>(in[0].sizes[1]);
    for (std::size_t r = 0; r < in[1].values.size(); ++r)
      for (std::size_t k = 0; k < n; ++k) {
        double& x = out.values[static_cast<std::size_t>(in[1][r]) * n + k];
        x = combine(x, in.size() > 2 ? in[2][r * n + k] : 1.5);
      }
    return Arrays{out};
  };
}

// Zeros in self and a source, in two sources, only in self, only in a source.
Variable meeting_zeros(std::size_t, std::size_t input) {
  if (input == 0) return ebb::tensor({0.0, 2.0, 1.5, -1.0, 0.5, 0.0}, ebb::kF64).view({3, 2});
  if (input == 1) return longs({0, 2, 0, 0, 1, 0, 1, 0, 1, 2, 2, 1}, {6, 2});
  return ebb::tensor({0.0, 0.7, 3.0, 0.0, 0.0, 0.0, 0.0, 1.2, 2.0, 1.1, 0.0, -2.0}, ebb::kF64).view({6, 2});
}

Arrays products_of_meeting(const Arrays& in) {
  Array with = in[0], without = in[0];
  for (std::size_t i = 0; i < 12; ++i) without.values[static_cast<std::size_t>(in[1][i]) * 2 + i % 2] = 1;
  for (std::size_t i = 0; i < 12; ++i) {
    const std::size_t at = static_cast<std::size_t>(in[1][i]) * 2 + i % 2;
    with.values[at] *= in[2][i];
    without.values[at] *= in[2][i];
  }
  return {with, without};
}

// Returns the gradient of a table of three rows, with row 1 as padding, divided by the number of uses of each
// row.
Arrays table_gradient(const Arrays& in) {
  double uses[3] = {};
  for (const double row : in[1].values) ++uses[static_cast<std::size_t>(row)];
  const auto entry = [&](const Index& i) {
    double s = 0;
    for (std::int64_t k = 0; k < 5; ++k)
      if (i[0] != 1 && in[1]({k}) == static_cast<double>(i[0])) s += in[0]({k, i[1]});
    return s;
  };
  return {build({3, 2}, entry), build({3, 2}, [&](const Index& i) {
            return entry(i) / std::max(uses[static_cast<std::size_t>(i[0])], 1.0);
          })};
}

void gathers() {
  reading("gather", [](V x, V i) { return ebb::gather(x, 0, i); }, {3, 3})
      .reference(gathered)
      .error("index", [] { ebb::gather(ebb::ones({1, 3}), 0, places(0, 1)); });
  reading("take_along_dim", [](V x, V i) { return ebb::take_along_dim(x, i, 0); }, {3, 3})
      .reference(gathered);
  reading("take", [](V x, V i) { return ebb::take(x, i); }, {3, 3})
      .reference(built(
          {2, 3}, [](const Arrays& in, const Index& i) { return in[0][static_cast<std::size_t>(in[1](i))]; }))
      .error("index", [] { ebb::take(ebb::ones({1}), places(0, 1)); });
  row("index_select", [](In x) { return variable_list{ebb::index_select(x[0], 0, x[1])}; })
      .shapes({{{3, 4}, {5}}})
      .integers(1, 0, 3)
      .reference(built({5, 4},
                       [](const Arrays& in, const Index& i) {
                         return in[0]({static_cast<std::int64_t>(in[1]({i[0]})), i[1]});
                       }))
      .error("index", [] { ebb::index_select(ebb::ones({2, 3}), 0, longs({2}, {1})); });
  row("embedding", [](In x) { return variable_list{ebb::embedding(x[0], x[1])}; })
      .shapes({{{3, 4}, {2, 5}}})
      .integers(1, 0, 3)
      .roundings(4)
      .reference(built({2, 5, 4},
                       [](const Arrays& in, const Index& i) {
                         return in[0]({static_cast<std::int64_t>(in[1]({i[0], i[1]})), i[2]});
                       }))
      .error("index", [] { ebb::embedding(ebb::ones({2, 3}), longs({2}, {1})); });
  row("embedding_dense_backward",
      [](In x) { return variable_list{ebb::embedding_dense_backward(x[0], x[1], 3, -1, false)}; })
      .shapes({{{5, 4}, {5}}})
      .integers(1, 0, 3)
      .roundings(4)
      .reference(built({3, 4},
                       [](const Arrays& in, const Index& i) {
                         double s = 0;
                         for (std::int64_t k = 0; k < 5; ++k)
                           if (in[1]({k}) == static_cast<double>(i[0])) s += in[0]({k, i[1]});
                         return s;
                       }))
      .error("embedding_dense_backward",
             [] { ebb::embedding_dense_backward(ebb::ones({5, 4}), longs({0, 1}, {2}), 3, -1, false); });
  row("embedding_dense_backward.padding",
      [](In x) {
        return variable_list{ebb::embedding_dense_backward(x[0], x[1], 3, 1, false),
                             ebb::embedding_dense_backward(x[0], x[1], 3, 1, true)};
      })
      .shapes({{{5, 2}, {5}}})
      .special([](std::size_t, std::size_t input) {
        return input == 1 ? longs({0, 1, 2, 1, 0}, {5}) : Variable();
      })
      .roundings(4)
      .reference(table_gradient);
  row("index",
      [](In x) {
        return variable_list{ebb::index(x[0], std::vector<ebb::optional<Variable>>{ebb::nullopt, x[1]})};
      })
      .shapes({{{3, 4}, {5}}})
      .integers(1, 0, 4)
      .reference(built({3, 5},
                       [](const Arrays& in, const Index& i) {
                         return in[0]({i[0], static_cast<std::int64_t>(in[1]({i[1]}))});
                       }))
      .error("index", [] { ebb::ones({2, 3}).index({longs({2}, {1})}); });
  unary("one_hot", [](V x) { return ebb::one_hot(x, 4); })
      .shapes({{{2, 3}}})
      .integers(0, 0, 4)
      .order(0, "integers have no derivative")
      .reference(built({2, 3, 4},
                       [](const Arrays& in, const Index& i) {
                         return double(in[0]({i[0], i[1]}) == static_cast<double>(i[2]));
                       }))
      .error("one_hot", [] { ebb::one_hot(longs({4}, {1}), 4); });
}

void scatters() {
  writing("scatter", [](V x, V i, V s) { return ebb::scatter(x, 0, i, s); })
      .reference(scattered(replaced))
      .in_place([](In x) { return ebb::scatter_(x[0], 0, x[1], x[2]); })
      .error("index", [] { ebb::scatter(ebb::ones({1, 3}), 0, places(0, 1), ebb::ones({2, 3})); });
  reading("scatter.value", [](V x, V i) { return ebb::scatter(x, 0, i, 1.5); }, {3, 3})
      .reference(scattered(replaced))
      .in_place([](In x) { return ebb::scatter_(x[0], 0, x[1], 1.5); });
  writing("scatter.multiply", [](V x, V i, V s) { return ebb::scatter(x, 0, i, s, "multiply"); })
      .order(0, "the reduce argument of scatter has no derivative; scatter_reduce has")
      .reference(scattered([](double x, double y) { return x * y; }));
  writing("scatter_add", [](V x, V i, V s) { return ebb::scatter_add(x, 0, i, s); })
      .reference(scattered(added))
      .in_place([](In x) { return ebb::scatter_add_(x[0], 0, x[1], x[2]); });
  writing("scatter_reduce", [](V x, V i, V s) { return ebb::scatter_reduce(x, 0, i, s, "sum"); })
      .reference(scattered(added))
      .in_place([](In x) { return ebb::scatter_reduce_(x[0], 0, x[1], x[2], "sum"); })
      .error("reduce",
             [] { ebb::scatter_reduce(ebb::ones({3, 3}), 0, places(0, 1), ebb::ones({2, 3}), "median"); });
  writing("scatter_reduce.prod", [](V x, V i, V s) { return ebb::scatter_reduce(x, 0, i, s, "prod"); })
      .range(0.5, 2)
      .roundings(4)
      .in_place([](In x) { return ebb::scatter_reduce_(x[0], 0, x[1], x[2], "prod"); })
      .reference(scattered([](double x, double y) { return x * y; }));
  row("scatter_reduce.prod.zeros",
      [](In v) {
        return variable_list{ebb::scatter_reduce(v[0], 0, v[1], v[2], "prod"),
                             ebb::scatter_reduce(v[0], 0, v[1], v[2], "prod", false)};
      })
      .shapes({{{3, 2}, {6, 2}, {6, 2}}})
      .special(meeting_zeros)
      .roundings(8)
      .reference(products_of_meeting);
  writing("scatter_reduce.mean", [](V x, V i, V s) {
    return ebb::scatter_reduce(x, 0, i, s, "mean");
  }).reference(scattered([](double x, double y) { return (x + y) / 2; }));
  writing("scatter_reduce.amax", [](V x, V i, V s) {
    return ebb::scatter_reduce(x, 0, i, s, "amax");
  }).reference(scattered([](double x, double y) { return std::max(x, y); }));
  on_line("index_add", [](V x, V i, V s) { return ebb::index_add(x, 0, i, s, 2); })
      .reference(on_rows([](double x, double y) { return x + 2 * y; }))
      .in_place([](In x) { return ebb::index_add_(x[0], 0, x[1], x[2], 2); })
      .error("index_add", [] { ebb::index_add(ebb::ones({3, 4}), 0, line(0, 1), ebb::ones({3, 4})); });
  on_line("index_copy", [](V x, V i, V s) { return ebb::index_copy(x, 0, i, s); })
      .reference(on_rows(replaced))
      .in_place([](In x) { return ebb::index_copy_(x[0], 0, x[1], x[2]); });
  row("index_fill", [](In x) { return variable_list{ebb::index_fill(x[0], 0, x[1], 1.5)}; })
      .shapes({{{3, 4}, {2}}})
      .special(line)
      .reference(on_rows(replaced))
      .in_place([](In x) { return ebb::index_fill_(x[0], 0, x[1], 1.5); });
  const auto rows_of = [](V i) { return std::vector<ebb::optional<Variable>>{i}; };
  row("index_put", [=](In x) { return variable_list{ebb::index_put(x[0], rows_of(x[1]), x[2])}; })
      .shapes({{{3, 4}, {2}, {2, 4}}})
      .special(line)
      .reference(on_rows(replaced))
      .in_place([=](In x) { return ebb::index_put_(x[0], rows_of(x[1]), x[2]); });
  row("index_put.accumulate",
      [=](In x) { return variable_list{ebb::index_put(x[0], rows_of(x[1]), x[2], true)}; })
      .shapes({{{3, 4}, {5}, {5, 4}}})
      .integers(1, 0, 3)
      .roundings(4)
      .reference(on_rows(added));
  row("put", [](In x) { return variable_list{ebb::put(x[0], x[1], x[2], true)}; })
      .shapes({{{3, 3}, {2}, {2}}})
      .special(line)
      .in_place([](In x) { return ebb::put_(x[0], x[1], x[2], true); })
      .reference([](const Arrays& in) {
        Array out = in[0];
        for (std::size_t i = 0; i < 2; ++i) out.values[static_cast<std::size_t>(in[1][i])] += in[2][i];
        return Arrays{out};
      });
}

}  // namespace

void register_index() {
  family("index");
  gathers();
  scatters();
}

// Masks and indexing.

namespace {

void masks() {
  row("masked_fill", [](In x) { return variable_list{ebb::masked_fill(x[0], x[1], 3)}; })
      .shapes({{{3, 4}, {3, 4}}, {{3, 4}, {4}}})
      .booleans(1)
      .reference([](double x, double mask) { return mask != 0 ? 3 : x; })
      .in_place([](In x) { return ebb::masked_fill_(x[0], x[1], 3); })
      .error("boolean", [] { ebb::masked_fill(ebb::ones({2}), ebb::ones({2}), 3); });
  row("masked_select", [](In x) { return variable_list{ebb::masked_select(x[0], x[1])}; })
      .shapes({{{3, 4}, {3, 4}}})
      .booleans(1)
      .reference([](const Arrays& in) {
        Array out{{0}, {}};
        for (std::size_t i = 0; i < in[0].values.size(); ++i)
          if (in[1][i] != 0) out.values.push_back(in[0][i]);
        out.sizes[0] = out.numel();
        return Arrays{out};
      })
      .error("boolean", [] { ebb::masked_select(ebb::ones({2}), ebb::ones({2})); });
  row("masked_scatter", [](In x) { return variable_list{ebb::masked_scatter(x[0], x[1], x[2])}; })
      .shapes({{{3, 4}, {3, 4}, {12}}})
      .booleans(1)
      .in_place([](In x) { return ebb::masked_scatter_(x[0], x[1], x[2]); })
      .reference([](const Arrays& in) {
        Array out = in[0];
        std::size_t next = 0;
        for (std::size_t i = 0; i < out.values.size(); ++i)
          if (in[1][i] != 0) out.values[i] = in[2][next++];
        return Arrays{out};
      })
      .error("masked_scatter",
             [] { ebb::masked_scatter(ebb::ones({2}), ebb::ones({2}, ebb::kBool), ebb::ones({1})); });
  const auto places_of = [](const Arrays& in) {
    std::vector<Index> found;
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 4; ++j)
        if (in[0]({i, j}) != 0) found.push_back({i, j});
    return found;
  };
  unary("nonzero", [](V x) { return ebb::nonzero(x); })
      .shapes({{{3, 4}}})
      .booleans(0)
      .order(0, "indices have no derivative")
      .reference([=](const Arrays& in) {
        const auto found = places_of(in);
        return Arrays{build({static_cast<std::int64_t>(found.size()), 2}, [&](const Index& i) {
          return static_cast<double>(found[static_cast<std::size_t>(i[0])][static_cast<std::size_t>(i[1])]);
        })};
      });
  row("unravel_index", [](In x) { return ebb::unravel_index(x[0], {2, 3, 4}); })
      .shapes({{{5}}, {{2, 3}}})
      .integers(0, 0, 24)
      .order(0, "indices have no derivative")
      .reference([](const Arrays& in) {
        Arrays out(3, in[0]);
        for (std::size_t i = 0; i < in[0].values.size(); ++i) {
          const auto flat = static_cast<std::int64_t>(in[0].values[i]);
          out[0].values[i] = static_cast<double>(flat / 12);
          out[1].values[i] = static_cast<double>(flat / 4 % 3);
          out[2].values[i] = static_cast<double>(flat % 4);
        }
        return out;
      })
      .error("integer dtype, got Float", [] { ebb::unravel_index(ebb::ones({2}), {3}); })
      .error("negative", [] { ebb::unravel_index(ebb::ones({2}, ebb::kLong), {3, -1}); })
      .error("but there are indices", [] { ebb::unravel_index(ebb::ones({2}, ebb::kLong), {3, 0}); });
  row("nonzero_numpy", [](In x) { return ebb::nonzero_numpy(x[0]); })
      .shapes({{{3, 4}}})
      .booleans(0)
      .order(0, "indices have no derivative")
      .reference([=](const Arrays& in) {
        Arrays out(2, Array{{0}, {}});
        for (const Index& i : places_of(in))
          for (std::size_t d = 0; d < 2; ++d) out[d].values.push_back(static_cast<double>(i[d]));
        for (Array& a : out) a.sizes[0] = a.numel();
        return out;
      });
}

// x[1:, None, 0] and the corresponding writes.
void brackets() {
  using namespace ebb::indexing;
  const auto where = [] { return std::vector<TensorIndex>{Slice(1), None, 0}; };
  row("get_item", [=](In x) { return variable_list{get_item(x[0], where())}; })
      .shapes({{{3, 4}}})
      .reference(picked({2, 1}, [](const Index& i) { return Index{i[0] + 1, 0}; }));
  const auto written = built_like([](const Arrays& in, const Index& i) {
    return i[0] > 0 && i[1] == 0 ? in[1]({i[0] - 1, 0}) : in[0](i);
  });
  row("put_item", [=](In x) { return variable_list{put_item(x[0], where(), x[1])}; })
      .shapes({{{3, 4}, {2, 1}}})
      .reference(written);
  row("set_item",
      [=](In x) {
        const Variable y = x[0].clone();
        set_item(y, where(), x[1]);
        return variable_list{y};
      })
      .shapes({{{3, 4}, {2, 1}}})
      .reference(written)
      .error("index", [] { set_item(ebb::ones({2}), std::vector<TensorIndex>{2}, 1); });
}

}  // namespace

void register_mask() {
  family("index");
  masks();
  brackets();
}

}  // namespace optable
