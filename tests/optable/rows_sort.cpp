// Rows of sorting, selection and counting ops.
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

const char* const kPlaces = "indices have no derivative";
const char* const kCounts = "counts have no derivative";
const char* const kDistinct = "the set of distinct values is not differentiable";

void sorted(Column& c) { std::sort(c.begin(), c.end()); }
void places_in_order(Column& c) {
  Column places(c.size());
  for (std::size_t i = 0; i < c.size(); ++i) places[i] = static_cast<double>(i);
  std::stable_sort(places.begin(), places.end(), [&c](double a, double b) {
    return c[static_cast<std::size_t>(a)] < c[static_cast<std::size_t>(b)];
  });
  c = places;
}
void two_largest(Column& c) {
  std::sort(c.rbegin(), c.rend());
  c.resize(2);
}
double second_smallest(const Column& x) {
  Column c = x;
  sorted(c);
  return c[1];
}
double most_frequent(const Column& x) {
  double best = x[0];
  std::ptrdiff_t often = 0;
  for (const double v : x) {
    const std::ptrdiff_t n = std::count(x.begin(), x.end(), v);
    if (n > often || (n == often && v < best)) best = v, often = n;
  }
  return best;
}
double quantile_of_three_tenths(const Column& x) {
  Column c = x;
  sorted(c);
  const double at = 0.3 * static_cast<double>(c.size() - 1);
  const std::size_t low = static_cast<std::size_t>(at), high = std::min(low + 1, c.size() - 1);
  return c[low] + (at - static_cast<double>(low)) * (c[high] - c[low]);
}
Array vector_of(const Column& c) { return {{static_cast<std::int64_t>(c.size())}, c}; }

/// Adds rows of a selection over all elements and along dimension 1, where values are the first result.
void both(const std::string& name, Variable (*all)(V), Variable (*dim)(V), double (*f)(const Column&),
          const std::string& no_half = "") {
  unary(name, all).shapes({{{3, 3}}, {{3, 4}}}).reference(whole(f)).no_half(no_half);
  unary(name + ".dim", dim)
      .shapes({{{3, 4}}, {{2, 3, 2}}})
      .reference(over(1, f))
      .no_half(no_half)
      .error("range", [dim] { dim(ebb::ones({3})); });
}

void orders() {
  unary("sort", [](V x) { return std::get<0>(ebb::sort(x)); })
      .shapes({{{3, 4}}, {{2, 3, 5}}, {{6}}, {{0}}})
      .reference(along(9, sorted))
      .error("range", [] { ebb::sort(ebb::ones({3}), 1); });
  unary("msort", ebb::msort).shapes({{{3, 4}}}).reference(along(0, sorted));
  unary("argsort", [](V x) { return ebb::argsort(x); })
      .shapes({{{3, 4}}, {{6}}})
      .order(0, kPlaces)
      .reference(along(9, places_in_order));
  unary("topk", [](V x) { return std::get<0>(ebb::topk(x, 2)); })
      .shapes({{{3, 4}}, {{2, 2, 5}}})
      .reference(along(9, two_largest))
      .error("range", [] { ebb::topk(ebb::ones({3}), 5); });
  unary("kthvalue", [](V x) { return std::get<0>(ebb::kthvalue(x, 2)); })
      .shapes({{{3, 4}}})
      .reference(over(1, second_smallest))
      .error("kthvalue", [] { ebb::kthvalue(ebb::ones({3}), 4); });
  both(
      "median", [](V x) { return ebb::median(x); }, [](V x) { return std::get<0>(ebb::median(x, 1)); },
      middle_of);
  both(
      "nanmedian", [](V x) { return ebb::nanmedian(x); },
      [](V x) { return std::get<0>(ebb::nanmedian(x, 1)); }, middle_of);
  both(
      "quantile", [](V x) { return ebb::quantile(x, 0.3); }, [](V x) { return ebb::quantile(x, 0.3, 1); },
      quantile_of_three_tenths, "float and double only, as in PyTorch");
  unary("mode", [](V x) { return std::get<0>(ebb::mode(x)); })
      .shapes({{{3, 4}}})
      .reference(over(1, most_frequent));
  unary("mode.integers", [](V x) { return std::get<0>(ebb::mode(x)); })
      .integers(0, 0, 4)
      .shapes({{{3, 7}}})
      .order(0, kPlaces)
      .reference(over(1, most_frequent));
}

// Returns distinct values, the index of each element among them, and their counts.
Arrays distinct_values(const Arrays& in) {
  Column values = in[0].values, counts;
  sorted(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  Array inverse{in[0].sizes, {}};
  for (const double v : in[0].values)
    inverse.values.push_back(
        static_cast<double>(std::lower_bound(values.begin(), values.end(), v) - values.begin()));
  for (const double v : values)
    counts.push_back(static_cast<double>(std::count(in[0].values.begin(), in[0].values.end(), v)));
  return {vector_of(values), inverse, vector_of(counts)};
}

Arrays runs(const Arrays& in) {
  Column values, counts;
  Array inverse{in[0].sizes, {}};
  for (const double v : in[0].values) {
    if (values.empty() || values.back() != v) values.push_back(v), counts.push_back(0);
    counts.back() += 1;
    inverse.values.push_back(static_cast<double>(values.size() - 1));
  }
  return {vector_of(values), inverse, vector_of(counts)};
}

// Returns the distinct rows of a matrix of two columns in order, their inverse indices and their counts.
Arrays distinct_rows(const Arrays& in) {
  std::vector<Column> all;
  for (std::int64_t i = 0; i < in[0].size(0); ++i) all.push_back({in[0]({i, 0}), in[0]({i, 1})});
  std::vector<Column> values = all;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  Array rows{{static_cast<std::int64_t>(values.size()), 2}, {}};
  Column inverse, counts;
  for (const Column& v : values) {
    rows.values.insert(rows.values.end(), v.begin(), v.end());
    counts.push_back(static_cast<double>(std::count(all.begin(), all.end(), v)));
  }
  for (const Column& v : all)
    inverse.push_back(static_cast<double>(std::find(values.begin(), values.end(), v) - values.begin()));
  return {rows, vector_of(inverse), vector_of(counts)};
}

variable_list list_of(const std::tuple<Variable, Variable, Variable>& t) {
  return {std::get<0>(t), std::get<1>(t), std::get<2>(t)};
}

void distinct() {
  const auto integers = [](std::string name, Row::Function f,
                           std::vector<std::vector<Sizes>> shapes) -> Row& {
    return row(std::move(name), std::move(f)).shapes(std::move(shapes)).integers(0, 0, 3).order(0, kDistinct);
  };
  integers("_unique",
           [](In x) {
             const auto [values, inverse] = ebb::_unique(x[0], true, true);
             return variable_list{values, inverse};
           },
           {{{7}}, {{2, 3}}})
      .reference([](const Arrays& in) {
        Arrays all = distinct_values(in);
        all.pop_back();
        return all;
      });
  integers("_unique2", [](In x) { return list_of(ebb::_unique2(x[0], true, true, true)); }, {{{7}}, {{2, 3}}})
      .reference(distinct_values);
  integers("unique_dim", [](In x) { return list_of(ebb::unique_dim(x[0], 0, true, true, true)); }, {{{9, 2}}})
      .reference(distinct_rows)
      .error("range", [] { ebb::unique_dim(ebb::ones({3}), 1); });
  integers("unique_consecutive", [](In x) { return list_of(ebb::unique_consecutive(x[0], true, true)); },
           {{{9}}})
      .reference(runs);
}

Arrays inserted(const Arrays& in) {
  Column line = in[0].values;
  sorted(line);
  return {build(in[1].sizes, [&](const Index& i) {
    return static_cast<double>(std::lower_bound(line.begin(), line.end(), in[1](i)) - line.begin());
  })};
}

void counts() {
  unary("bincount", [](V x) { return ebb::bincount(x, {}, 6); })
      .integers(0, 0, 5)
      .shapes({{{9}}})
      .order(0, kCounts)
      .reference(built({6},
                       [](const Arrays& in, const Index& i) {
                         return double(std::count(in[0].values.begin(), in[0].values.end(), double(i[0])));
                       }))
      .error("bincount", [] { ebb::bincount(-ebb::ones({2}, ebb::kLong)); });
  row("bincount.weights", [](In x) { return variable_list{ebb::bincount(x[0], x[1], 6)}; })
      .integers(0, 0, 5)
      .shapes({{{9}, {9}}})
      .order(0, kCounts)
      .double_only("weights that are not double are summed in double")
      .reference(built({6}, [](const Arrays& in, const Index& i) {
        double s = 0;
        for (std::size_t k = 0; k < 9; ++k) s += in[0][k] == double(i[0]) ? in[1][k] : 0;
        return s;
      }));
  unary("histc", [](V x) { return ebb::histc(x, 4, -2, 2); })
      .kinks({-1, 0, 1})
      .shapes({{{3, 5}}})
      .order(0, kCounts)
      .no_half("counts in 16 bits are for CUDA only, as in PyTorch")
      .reference(built({4},
                       [](const Arrays& in, const Index& i) {
                         double n = 0;
                         for (const double v : in[0].values) n += std::floor(v) + 2 == double(i[0]);
                         return n;
                       }))
      .error("histc", [] { ebb::histc(ebb::ones({2}), 0); });
  binary("searchsorted", [](V line, V x) { return ebb::searchsorted(std::get<0>(ebb::sort(line)), x); })
      .shapes({{{7}, {3, 2}}})
      .order(0, kPlaces)
      .reference(inserted)
      .error("searchsorted", [] { ebb::searchsorted(ebb::ones({3}), ebb::ones({2}), false, true, "left"); });
  binary("bucketize", [](V line, V x) { return ebb::bucketize(x, std::get<0>(ebb::sort(line))); })
      .shapes({{{7}, {3, 2}}})
      .order(0, kPlaces)
      .reference(inserted)
      .error("bucketize", [] { ebb::bucketize(ebb::ones({2}), ebb::ones({2, 2})); });
}

}  // namespace

void register_sort() {
  family("sort");
  orders();
  distinct();
  counts();
}

}  // namespace optable
