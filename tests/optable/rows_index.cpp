// Gathering and scattering.
#include "optable/rows.h"

namespace optable {
namespace {

using In = const variable_list&;
using V = const Variable&;
using Arrays = std::vector<Array>;

Variable places() {
  return ebb::tensor(std::vector<double>{0, 2, 1, 1, 0, 2}, ebb::kF64).to(ebb::kLong).view({2, 3});
}
Variable line() { return ebb::tensor(std::vector<double>{2, 0}, ebb::kF64).to(ebb::kLong); }

Arrays gathered(const Arrays& in) {
  const std::size_t at[] = {0, 2, 1, 1, 0, 2};
  Array out{{2, 3}, {}};
  for (std::size_t i = 0; i < 6; ++i) out.values.push_back(in[0][at[i] * 3 + i % 3]);
  return {out};
}

Arrays scatter_added(const Arrays& in) {
  const std::size_t at[] = {0, 2, 1, 1, 0, 2};
  Array out = in[0];
  for (std::size_t i = 0; i < 6; ++i) out.values[at[i] * 3 + i % 3] += in[1][i];
  return {out};
}

Row& two(const char* name, Variable (*f)(V, V), Sizes a, Sizes b) { return binary(name, f).shapes({{a, b}}); }

}  // namespace

void register_index() {
  unary("gather", [](V x) { return ebb::gather(x, 0, places()); })
      .shapes({{{3, 3}}})
      .reference(gathered)
      .error("", [] {
        ebb::gather(ebb::ones({1, 3}), 0, places());
      });
  two("scatter_add", [](V x, V s) { return ebb::scatter_add(x, 0, places(), s); }, {3, 3}, {2, 3})
      .reference(scatter_added)
      .in_place([](In x) { return ebb::scatter_add_(x[0], 0, places(), x[1]); });
  two("scatter", [](V x, V s) { return ebb::scatter(x, 0, places(), s); }, {3, 3}, {2, 3});
  unary("scatter.value", [](V x) { return ebb::scatter(x, 0, places(), 1.5); }).shapes({{{3, 3}}});
  two("scatter_reduce", [](V x, V s) { return ebb::scatter_reduce(x, 0, places(), s, "sum"); }, {3, 3},
      {2, 3})
      .reference(scatter_added);
  unary("index_select", [](V x) { return ebb::index_select(x, 1, line()); }).shapes({{{2, 3}}});
  two("index_add", [](V x, V s) { return ebb::index_add(x, 0, line(), s, 2); }, {3, 4}, {2, 4});
  two("index_copy", [](V x, V s) { return ebb::index_copy(x, 0, line(), s); }, {3, 4}, {2, 4});
  unary("index_fill", [](V x) { return ebb::index_fill(x, 0, line(), 1.5); }).shapes({{{3, 4}}});
  unary("masked_fill", [](V x) { return ebb::masked_fill(x, x.detach() > 0, 3); })
      .kinks({0})
      .reference([](double x) { return x > 0 ? 3 : x; });
  unary("masked_select", [](V x) { return ebb::masked_select(x, x.detach() > 0); })
      .shapes({{{3, 4}}})
      .kinks({0});
  unary("take", [](V x) { return ebb::take(x, places()); }).shapes({{{3, 3}}});
  two("put", [](V x, V s) { return ebb::put(x, line(), s, true); }, {3, 3}, {2});
  unary("take_along_dim", [](V x) { return ebb::take_along_dim(x, places(), 0); })
      .shapes({{{3, 3}}})
      .reference(gathered);
  unary("nonzero", [](V x) { return ebb::nonzero(x > 0); })
      .shapes({{{3, 4}}})
      .order(0, "places have no slope");
}

}  // namespace optable
