#include "optable/table.h"

#include <memory>

namespace optable {
namespace {

std::vector<std::unique_ptr<Row>>& storage() {
  static std::vector<std::unique_ptr<Row>> all;
  return all;
}

// Functions, as rows are registered before the constants of this file are.
std::vector<std::vector<Sizes>> unary_shapes() { return {{{3, 4}}, {{}}, {{0, 2}}, {{1, 5, 2}}}; }
std::vector<std::vector<Sizes>> binary_shapes() {
  return {{{3, 4}, {3, 4}}, {{2, 1, 3}, {4, 1}}, {{}, {3}}, {{3}, {}}, {{0, 3}, {1, 3}}};
}

// The position in `from` of element i of the broadcast shape `to`.
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
std::vector<Array> elementwise(const std::vector<Array>& in, F f) {
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

}  // namespace

Row& Row::reference(double (*f)(double)) {
  return reference(
      [f](const std::vector<Array>& in) { return elementwise(in, [f](auto at) { return f(at(0)); }); });
}
Row& Row::reference(double (*f)(double, double)) {
  return reference([f](const std::vector<Array>& in) {
    return elementwise(in, [f](auto at) { return f(at(0), at(1)); });
  });
}
Row& Row::reference(double (*f)(double, double, double)) {
  return reference([f](const std::vector<Array>& in) {
    return elementwise(in, [f](auto at) { return f(at(0), at(1), at(2)); });
  });
}

Row& row(std::string name, Row::Function f) {
  auto made = std::make_unique<Row>();
  made->name = std::move(name);
  made->function = std::move(f);
  storage().push_back(std::move(made));
  return *storage().back();
}

Row& unary(std::string name, Variable (*f)(const Variable&)) {
  return row(std::move(name), [f](const variable_list& x) { return variable_list{f(x[0])}; })
      .shapes(unary_shapes());
}

Row& binary(std::string name, std::function<Variable(const Variable&, const Variable&)> f) {
  return row(std::move(name), [f](const variable_list& x) { return variable_list{f(x[0], x[1])}; })
      .shapes(binary_shapes());
}

const std::vector<Row*>& rows() {
  static std::vector<Row*> all = [] {
    register_all();
    std::vector<Row*> out;
    for (auto& r : storage()) out.push_back(r.get());
    return out;
  }();
  return all;
}

}  // namespace optable
