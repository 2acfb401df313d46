// Products.
#include "optable/rows.h"

namespace optable {
namespace {

using In = const variable_list&;
using V = const Variable&;
using Arrays = std::vector<Array>;

Arrays product(const Arrays& in) {
  const auto m = in[0].sizes[0], k = in[0].sizes[1], n = in[1].sizes[1];
  Array out{{m, n}, {}};
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double s = 0;
      for (std::int64_t l = 0; l < k; ++l)
        s += in[0][static_cast<std::size_t>(i * k + l)] * in[1][static_cast<std::size_t>(l * n + j)];
      out.values.push_back(s);
    }
  return {out};
}

Arrays dotted(const Arrays& in) {
  double s = 0;
  for (std::size_t i = 0; i < in[0].values.size(); ++i) s += in[0][i] * in[1][i];
  return {{{}, {s}}};
}

Row& two(const char* name, Variable (*f)(V, V), Sizes a, Sizes b) { return binary(name, f).shapes({{a, b}}); }
Row& three(const char* name, Variable (*f)(V, V, V), Sizes a, Sizes b, Sizes c) {
  return row(name, [f](In x) { return variable_list{f(x[0], x[1], x[2])}; }).shapes({{a, b, c}});
}

}  // namespace

void register_linalg() {
  two("mm", ebb::mm, {3, 4}, {4, 2}).reference(product).error("", [] {
    ebb::mm(ebb::ones({2, 3}), ebb::ones({2, 3}));
  });
  two("matmul", [](V a, V b) { return ebb::matmul(a, b); }, {3, 4}, {4, 2}).reference(product).error("", [] {
    ebb::matmul(ebb::ones({2, 3}), ebb::ones({2, 3}));
  });
  two("matmul.batch", [](V a, V b) { return ebb::matmul(a, b); }, {2, 1, 3, 2}, {3, 2, 2});
  two("matmul.vector", [](V a, V b) { return ebb::matmul(a, b); }, {4}, {2, 4, 3});
  two("bmm", ebb::bmm, {2, 3, 4}, {2, 4, 2});
  two("mv", ebb::mv, {3, 4}, {4});
  two("dot", ebb::dot, {4}, {4}).reference(dotted);
  two("vdot", ebb::vdot, {4}, {4}).reference(dotted);
  two("inner", ebb::inner, {2, 3}, {4, 3});
  two("outer", ebb::outer, {3}, {4});
  three("addmm", [](V a, V b, V c) { return ebb::addmm(a, b, c, 0.5, 2); }, {3, 2}, {3, 4}, {4, 2});
  three("addmv", [](V a, V b, V c) { return ebb::addmv(a, b, c, 0.5, 2); }, {3}, {3, 4}, {4});
  three("addr", [](V a, V b, V c) { return ebb::addr(a, b, c, 0.5, 2); }, {3, 4}, {3}, {4});
  three("baddbmm", [](V a, V b, V c) { return ebb::baddbmm(a, b, c, 0.5, 2); }, {2, 3, 2}, {2, 3, 4},
        {2, 4, 2});
  three("addbmm", [](V a, V b, V c) { return ebb::addbmm(a, b, c, 0.5, 2); }, {3, 2}, {2, 3, 4}, {2, 4, 2});
  three("linear", [](V a, V b, V c) { return ebb::linear(a, b, c); }, {3, 4}, {2, 4}, {2});
  three("bilinear", [](V a, V b, V c) { return ebb::bilinear(a, b, c); }, {3, 2}, {3, 4}, {2, 2, 4});
  two("einsum", [](V a, V b) { return ebb::einsum("bij,bjk->bik", {a, b}); }, {2, 3, 4}, {2, 4, 2});
  two("tensordot", [](V a, V b) { return ebb::tensordot(a, b, {1}, {0}); }, {3, 4}, {4, 2})
      .reference(product);
  two("kron", ebb::kron, {2, 3}, {2, 2});
  unary("trace", ebb::trace).shapes({{{3, 3}}});
  unary("matrix_power", [](V x) { return ebb::matrix_power(x, 3); }).shapes({{{3, 3}}});
  two("cdist", [](V a, V b) { return ebb::cdist(a, b); }, {3, 4}, {2, 4});
}

}  // namespace optable
