// Reference implementations by plain loops.
#include "optable/reference.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

// Returns the position in `from` of element i of the broadcast shape `to`.
std::size_t broadcast_index(std::int64_t i, const Sizes& to, const Sizes& from) {
  std::int64_t index = 0, step = 1;
  for (std::size_t d = to.size(); d-- > 0;) {
    const std::int64_t k = i % to[d];
    i /= to[d];
    if (d + from.size() < to.size()) continue;
    const std::int64_t n = from[d + from.size() - to.size()];
    if (n != 1) index += k * step;
    step *= n;
  }
  return static_cast<std::size_t>(index);
}

template <class F>
Arrays elementwise(const Arrays& in, F f) {
  Sizes sizes;
  for (const Array& a : in) {
    const auto both = ebb::broadcast_shapes("reference", sizes, a.sizes);
    sizes.assign(both.begin(), both.end());
  }
  Array out{sizes, {}};
  const std::int64_t n = ebb::checked_numel(sizes);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = [&](std::size_t k) { return in[k][broadcast_index(i, sizes, in[k].sizes)]; };
    out.values.push_back(f(at));
  }
  return {out};
}

// The columns along dim: stride, length, and first elements.
struct Columns {
  std::size_t step = 1, size = 1, outer = 1;
  Columns(const Sizes& sizes, std::size_t dim) {
    for (std::size_t d = 0; d < sizes.size(); ++d)
      (d < dim ? outer : d > dim ? step : size) *= static_cast<std::size_t>(sizes[d]);
  }
  Column get(const Array& x, std::size_t i, std::size_t k) const {
    Column c;
    for (std::size_t j = 0; j < size; ++j) c.push_back(x[(i * size + j) * step + k]);
    return c;
  }
};

}  // namespace

double Array::operator()(const Index& place) const {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + place[d];
  return values[static_cast<std::size_t>(at)];
}

Row& Row::reference(double (*f)(double)) {
  return reference([f](const Arrays& in) { return elementwise(in, [f](auto at) { return f(at(0)); }); });
}
Row& Row::reference(double (*f)(double, double)) {
  return reference(
      [f](const Arrays& in) { return elementwise(in, [f](auto at) { return f(at(0), at(1)); }); });
}
Row& Row::reference(double (*f)(double, double, double)) {
  return reference(
      [f](const Arrays& in) { return elementwise(in, [f](auto at) { return f(at(0), at(1), at(2)); }); });
}

Array build(Sizes sizes, const std::function<double(const Index&)>& f) {
  Array out{sizes, {}};
  const std::int64_t n = ebb::checked_numel(sizes);
  Index place(sizes.size());
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rest = i;
    for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) place[d] = rest % sizes[d];
    out.values.push_back(f(place));
  }
  return out;
}

Row::Reference built(Sizes sizes, std::function<double(const Arrays&, const Index&)> f) {
  return [=](const Arrays& in) { return Arrays{build(sizes, [&](const Index& i) { return f(in, i); })}; };
}

Row::Reference built_like(std::function<double(const Arrays&, const Index&)> f) {
  return
      [=](const Arrays& in) { return Arrays{build(in[0].sizes, [&](const Index& i) { return f(in, i); })}; };
}

Row::Reference picked(Sizes sizes, std::function<Index(const Index&)> place, double otherwise) {
  return built(std::move(sizes), [=](const Arrays& in, const Index& i) {
    const Index from = place(i);
    return from.empty() ? otherwise : in[0](from);
  });
}

Row::Reference resized(Sizes sizes) {
  return [sizes](const Arrays& in) { return Arrays{{sizes, in[0].values}}; };
}

Row::Reference whole(double (*f)(const Column&)) {
  return [f](const Arrays& in) { return Arrays{{{}, {f(in[0].values)}}}; };
}

Row::Reference over(std::size_t dim, double (*f)(const Column&)) {
  return [=](const Arrays& in) {
    const Columns columns(in[0].sizes, dim);
    Array out{in[0].sizes, {}};
    out.sizes.erase(out.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    for (std::size_t i = 0; i < columns.outer; ++i)
      for (std::size_t k = 0; k < columns.step; ++k) out.values.push_back(f(columns.get(in[0], i, k)));
    return Arrays{out};
  };
}

Row::Reference along(std::size_t dim, void (*f)(Column&)) {
  return [=](const Arrays& in) {
    const std::size_t rank = in[0].sizes.size(), d = rank == 0 ? 0 : std::min(dim, rank - 1);
    const Columns columns(in[0].sizes, d);
    std::vector<Column> made;
    for (std::size_t i = 0; i < columns.outer; ++i)
      for (std::size_t k = 0; k < columns.step; ++k) {
        made.push_back(columns.get(in[0], i, k));
        f(made.back());
      }
    Array out{in[0].sizes, {}};
    const std::size_t size = made.empty() ? columns.size : made[0].size();
    if (rank > 0) out.sizes[d] = static_cast<std::int64_t>(size);
    for (std::size_t i = 0; i < columns.outer; ++i)
      for (std::size_t j = 0; j < size; ++j)
        for (std::size_t k = 0; k < columns.step; ++k) out.values.push_back(made[i * columns.step + k][j]);
    return Arrays{out};
  };
}

Row::Reference mean_of(double (*f)(double, double)) {
  return [f](const Arrays& in) {
    double s = 0;
    for (std::size_t i = 0; i < in[0].values.size(); ++i) s += f(in[0][i], in[1][i]);
    return Arrays{{{}, {s / static_cast<double>(in[0].values.size())}}};
  };
}

double total(const Column& x) {
  double s = 0;
  for (const double v : x) s += v;
  return s;
}
double average(const Column& x) { return total(x) / static_cast<double>(x.size()); }
double product_of(const Column& x) {
  double p = 1;
  for (const double v : x) p *= v;
  return p;
}
double spread(const Column& x) {
  const double m = average(x);
  double s = 0;
  for (const double v : x) s += (v - m) * (v - m);
  return s / static_cast<double>(x.size() - 1);
}
double deviation(const Column& x) { return std::sqrt(spread(x)); }
double length(const Column& x) {
  double s = 0;
  for (const double v : x) s += v * v;
  return std::sqrt(s);
}
double largest(const Column& x) {
  double m = x[0];
  for (const double v : x) m = v > m ? v : m;
  return m;
}
double smallest(const Column& x) {
  double m = x[0];
  for (const double v : x) m = v < m ? v : m;
  return m;
}
double middle_of(const Column& x) {
  Column c = x;
  std::sort(c.begin(), c.end());
  return c[(c.size() - 1) / 2];
}

}  // namespace optable
