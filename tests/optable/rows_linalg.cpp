// Rows of matrix and vector products.
#include "optable/dense.h"
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

Array product(const Array& a, const Array& b) {
  return build({a.size(0), b.size(1)}, [&](const Index& i) {
    double s = 0;
    for (std::int64_t l = 0; l < a.size(1); ++l) s += a({i[0], l}) * b({l, i[1]});
    return s;
  });
}
Arrays first_product(const Arrays& in) { return {product(in[0], in[1])}; }

double dot_of(const Arrays& in) {
  double s = 0;
  for (std::size_t i = 0; i < in[0].values.size(); ++i) s += in[0][i] * in[1][i];
  return s;
}
Arrays dotted(const Arrays& in) { return {{{}, {dot_of(in)}}}; }

// Returns the sum of f(l) over l < n.
template <class F>
double sum(std::int64_t n, F f) {
  double s = 0;
  for (std::int64_t l = 0; l < n; ++l) s += f(l);
  return s;
}

Row& two(const char* name, Variable (*f)(V, V), Sizes a, Sizes b) {
  return binary(name, f).shapes({{a, b}}).roundings(4);
}
Row& three(const char* name, Variable (*f)(V, V, V), Sizes a, Sizes b, Sizes c) {
  return row(name, [f](In x) { return variable_list{f(x[0], x[1], x[2])}; }).shapes({{a, b, c}}).roundings(4);
}
Row& twin(const char* name, Variable (*f)(V, V, V), Variable (*in_place)(In), Sizes a, Sizes b, Sizes c) {
  return three(name, f, a, b, c).in_place(in_place);
}

void products() {
  two("mm", ebb::mm, {3, 4}, {4, 2}).reference(first_product).error("mm", [] {
    ebb::mm(ebb::ones({2, 3}), ebb::ones({2, 3}));
  });
  two("mm.empty", ebb::mm, {3, 0}, {0, 2}).reference(first_product);
  two("mm.no_rows", ebb::mm, {0, 3}, {3, 2}).reference(first_product);
  two("matmul", [](V a, V b) { return ebb::matmul(a, b); }, {3, 4}, {4, 2})
      .reference(first_product)
      .error("matmul", [] { ebb::matmul(ebb::ones({2, 3}), ebb::ones({2, 3})); });
  two("matmul.batch", [](V a, V b) { return ebb::matmul(a, b); }, {2, 1, 3, 2}, {3, 2, 2})
      .reference(built({2, 3, 3, 2}, [](const Arrays& in, const Index& i) {
        return sum(2, [&](auto l) { return in[0]({i[0], 0, i[2], l}) * in[1]({i[1], l, i[3]}); });
      }));
  two("matmul.vector", [](V a, V b) { return ebb::matmul(a, b); }, {4}, {2, 4, 3})
      .reference(built({2, 3}, [](const Arrays& in, const Index& i) {
        return sum(4, [&](auto l) { return in[0]({l}) * in[1]({i[0], l, i[1]}); });
      }));
  two("bmm", ebb::bmm, {2, 3, 4}, {2, 4, 2})
      .reference(built({2, 3, 2},
                       [](const Arrays& in, const Index& i) {
                         return sum(4,
                                    [&](auto l) { return in[0]({i[0], i[1], l}) * in[1]({i[0], l, i[2]}); });
                       }))
      .error("bmm", [] { ebb::bmm(ebb::ones({2, 3, 4}), ebb::ones({1, 4, 2})); });
  two("mv", ebb::mv, {3, 4}, {4})
      .reference(built({3},
                       [](const Arrays& in, const Index& i) {
                         return sum(4, [&](auto l) { return in[0]({i[0], l}) * in[1]({l}); });
                       }))
      .error("mv", [] { ebb::mv(ebb::ones({3, 4}), ebb::ones({3})); });
  two("dot", ebb::dot, {4}, {4}).reference(dotted).error("dot", [] {
    ebb::dot(ebb::ones({3}), ebb::ones({4}));
  });
  two("vdot", ebb::vdot, {4}, {4}).reference(dotted);
  two("inner", ebb::inner, {2, 3}, {4, 3}).reference(built({2, 4}, [](const Arrays& in, const Index& i) {
    return sum(3, [&](auto l) { return in[0]({i[0], l}) * in[1]({i[1], l}); });
  }));
  two("outer", ebb::outer, {3}, {4})
      .reference(
          built({3, 4}, [](const Arrays& in, const Index& i) { return in[0]({i[0]}) * in[1]({i[1]}); }))
      .error("outer", [] { ebb::outer(ebb::ones({3, 1}), ebb::ones({4})); });
  two("kron", ebb::kron, {2, 3}, {2, 2}).reference(built({4, 6}, [](const Arrays& in, const Index& i) {
    return in[0]({i[0] / 2, i[1] / 2}) * in[1]({i[0] % 2, i[1] % 2});
  }));
}

// beta is 0.5 and alpha is 2.
Row::Reference half_and_twice(Sizes sizes, double (*f)(const Arrays&, const Index&)) {
  return built(std::move(sizes),
               [f](const Arrays& in, const Index& i) { return 0.5 * in[0](i) + 2 * f(in, i); });
}

void added() {
  twin(
      "addmm", [](V a, V b, V c) { return ebb::addmm(a, b, c, 0.5, 2); },
      [](In x) { return x[0].addmm_(x[1], x[2], 0.5, 2); }, {3, 2}, {3, 4}, {4, 2})
      .reference(half_and_twice({3, 2},
                                [](const Arrays& in, const Index& i) {
                                  return sum(4, [&](auto l) { return in[1]({i[0], l}) * in[2]({l, i[1]}); });
                                }))
      .error("addmm", [] { ebb::addmm(ebb::ones({3, 2}), ebb::ones({3, 4}), ebb::ones({3, 2})); });
  twin(
      "addmm.nothing_inside", [](V a, V b, V c) { return ebb::addmm(a, b, c, 0.5, 2); },
      [](In x) { return x[0].addmm_(x[1], x[2], 0.5, 2); }, {3, 2}, {3, 0}, {0, 2})
      .reference(half_and_twice({3, 2}, [](const Arrays&, const Index&) { return 0.0; }));
  twin(
      "addmv", [](V a, V b, V c) { return ebb::addmv(a, b, c, 0.5, 2); },
      [](In x) { return x[0].addmv_(x[1], x[2], 0.5, 2); }, {3}, {3, 4}, {4})
      .reference(half_and_twice({3}, [](const Arrays& in, const Index& i) {
        return sum(4, [&](auto l) { return in[1]({i[0], l}) * in[2]({l}); });
      }));
  twin(
      "addr", [](V a, V b, V c) { return ebb::addr(a, b, c, 0.5, 2); },
      [](In x) { return x[0].addr_(x[1], x[2], 0.5, 2); }, {3, 4}, {3}, {4})
      .reference(half_and_twice(
          {3, 4}, [](const Arrays& in, const Index& i) { return in[1]({i[0]}) * in[2]({i[1]}); }));
  twin(
      "baddbmm", [](V a, V b, V c) { return ebb::baddbmm(a, b, c, 0.5, 2); },
      [](In x) { return x[0].baddbmm_(x[1], x[2], 0.5, 2); }, {2, 3, 2}, {2, 3, 4}, {2, 4, 2})
      .reference(half_and_twice({2, 3, 2}, [](const Arrays& in, const Index& i) {
        return sum(4, [&](auto l) { return in[1]({i[0], i[1], l}) * in[2]({i[0], l, i[2]}); });
      }));
  twin(
      "baddbmm.nothing_inside", [](V a, V b, V c) { return ebb::baddbmm(a, b, c, 0.5, 2); },
      [](In x) { return x[0].baddbmm_(x[1], x[2], 0.5, 2); }, {2, 3, 2}, {2, 3, 0}, {2, 0, 2})
      .reference(half_and_twice({2, 3, 2}, [](const Arrays&, const Index&) { return 0.0; }));
  twin(
      "addbmm", [](V a, V b, V c) { return ebb::addbmm(a, b, c, 0.5, 2); },
      [](In x) { return x[0].addbmm_(x[1], x[2], 0.5, 2); }, {3, 2}, {2, 3, 4}, {2, 4, 2})
      .reference(half_and_twice({3, 2}, [](const Arrays& in, const Index& i) {
        return sum(8, [&](auto l) { return in[1]({l / 4, i[0], l % 4}) * in[2]({l / 4, l % 4, i[1]}); });
      }));
  three("linear", [](V a, V b, V c) { return ebb::linear(a, b, c); }, {3, 4}, {2, 4}, {2})
      .reference(built({3, 2},
                       [](const Arrays& in, const Index& i) {
                         return in[2]({i[1]}) +
                                sum(4, [&](auto l) { return in[0]({i[0], l}) * in[1]({i[1], l}); });
                       }))
      .error("linear", [] { ebb::linear(ebb::ones({3, 4}), ebb::ones({2, 3})); });
  three("linear_relu", [](V a, V b, V c) { return ebb::linear_relu(a, b, c); }, {3, 4}, {5, 4}, {5})
      .reference(built({3, 5},
                       [](const Arrays& in, const Index& i) {
                         return std::max(0.0, in[2]({i[1]}) + sum(4, [&](auto l) {
                                                return in[0]({i[0], l}) * in[1]({i[1], l});
                                              }));
                       }))
      .error("linear_relu", [] { ebb::linear_relu(ebb::ones({3, 4}), ebb::ones({2, 3})); });
  three("linear_gelu", [](V a, V b, V c) { return ebb::linear_gelu(a, b, c); }, {2, 3, 4}, {9, 4}, {9})
      .reference(built({2, 3, 9},
                       [](const Arrays& in, const Index& i) {
                         const double z = in[2]({i[2]}) + sum(4, [&](auto l) {
                                            return in[0]({i[0], i[1], l}) * in[1]({i[2], l});
                                          });
                         return z / 2 * (1 + std::tanh(0.79788456080286535588 * (z + 0.044715 * z * z * z)));
                       }))
      .error("linear_gelu", [] { ebb::linear_gelu(ebb::ones({3, 4}), ebb::ones({2, 3})); });
  three("bilinear", [](V a, V b, V c) { return ebb::bilinear(a, b, c); }, {3, 2}, {3, 4}, {2, 2, 4})
      .reference(built({3, 2}, [](const Arrays& in, const Index& i) {
        return sum(8, [&](auto l) {
          return in[0]({i[0], l / 4}) * in[2]({i[1], l / 4, l % 4}) * in[1]({i[0], l % 4});
        });
      }));
}

// Computes the cross product along a dimension of size 3: component k of position i.
Row::Reference crossed(Sizes sizes, std::size_t dim) {
  return built(std::move(sizes), [dim](const Arrays& in, const Index& i) {
    Index j = i, k = i;
    j[dim] = (i[dim] + 1) % 3;
    k[dim] = (i[dim] + 2) % 3;
    return in[0](j) * in[1](k) - in[0](k) * in[1](j);
  });
}

void composed() {
  two("einsum", [](V a, V b) { return ebb::einsum("bij,bjk->bik", {a, b}); }, {2, 3, 4}, {2, 4, 2})
      .reference(built({2, 3, 2},
                       [](const Arrays& in, const Index& i) {
                         return sum(4,
                                    [&](auto l) { return in[0]({i[0], i[1], l}) * in[1]({i[0], l, i[2]}); });
                       }))
      .error("einsum", [] { ebb::einsum("ij,jk", {ebb::ones({2, 3})}); });
  two("einsum.capitals", [](V a, V b) { return ebb::einsum("aB,aZ", {a, b}); }, {3, 2}, {3, 4})
      .reference(built({2, 4}, [](const Arrays& in, const Index& i) {
        return sum(3, [&](auto l) { return in[0]({l, i[0]}) * in[1]({l, i[1]}); });
      }));
  two("einsum.diagonal", [](V a, V b) { return ebb::einsum("ii,ij->j", {a, b}); }, {3, 3}, {3, 2})
      .reference(built({2}, [](const Arrays& in, const Index& i) {
        return sum(3, [&](auto l) { return in[0]({l, l}) * in[1]({l, i[0]}); });
      }));
  two("tensordot", [](V a, V b) { return ebb::tensordot(a, b, {1}, {0}); }, {3, 4}, {4, 2})
      .reference(first_product);
  unary("trace", ebb::trace)
      .shapes({{{3, 3}}, {{2, 4}}})
      .reference([](const Arrays& in) {
        const std::int64_t n = std::min(in[0].size(0), in[0].size(1));
        return Arrays{{{}, {sum(n, [&](auto l) { return in[0]({l, l}); })}}};
      })
      .error("trace", [] { ebb::trace(ebb::ones({3})); });
  unary("matrix_power", [](V x) { return ebb::matrix_power(x, 3); })
      .shapes({{{3, 3}}})
      .roundings(16)
      .reference([](const Arrays& in) { return Arrays{product(product(in[0], in[0]), in[0])}; })
      .error("matrix_power", [] { ebb::matrix_power(ebb::ones({2, 3}), 2); });
  unary("matrix_power.negative",
        [](V x) {
          if (x.dim() < 2) return ebb::matrix_power(x, -2);
          return ebb::matrix_power(x / 4 + 2 * ebb::eye(x.size(-1), x.options().requires_grad(false)), -2);
        })
      .shapes({{{3, 3}}})
      .no_half("16-bit floats have no inverse, as in PyTorch")
      .reference([](const Arrays& in) {
        dense::Mat a = dense::matrix(in[0]);
        for (double& v : a.v) v /= 4;
        for (std::int64_t i = 0; i < a.n; ++i) a(i, i) += 2;
        const dense::Mat power = dense::inverse(dense::times(a, a));
        return Arrays{{{3, 3}, power.v}};
      })
      .error("singular", [] { ebb::matrix_power(ebb::ones({2, 2}), -1); });
  three("chain_matmul", [](V a, V b, V c) { return ebb::chain_matmul({a, b, c}); }, {2, 3}, {3, 4}, {4, 2})
      .roundings(16)
      .reference([](const Arrays& in) { return Arrays{product(product(in[0], in[1]), in[2])}; });
  three("multi_dot", [](V a, V b, V c) { return ebb::linalg::multi_dot({a, b, c}); }, {3}, {3, 4}, {4, 2})
      .roundings(16)
      .reference(built({2},
                       [](const Arrays& in, const Index& i) {
                         return sum(12, [&](auto l) {
                           return in[0]({l / 4}) * in[1]({l / 4, l % 4}) * in[2]({l % 4, i[0]});
                         });
                       }))
      .error("multi_dot", [] { ebb::linalg::multi_dot({ebb::ones({2, 3})}); });
  two("cross", [](V a, V b) { return ebb::cross(a, b); }, {3, 4}, {3, 4}).reference(crossed({3, 4}, 0));
  two("cross.last", [](V a, V b) { return ebb::linalg::cross(a, b); }, {4, 3}, {4, 3})
      .reference(crossed({4, 3}, 1))
      .error("cross", [] { ebb::linalg::cross(ebb::ones({2}), ebb::ones({2})); });
  two("cdist", [](V a, V b) { return ebb::cdist(a, b); }, {3, 4}, {2, 4})
      .no_half("float and double only, as in PyTorch")
      .reference(built({3, 2},
                       [](const Arrays& in, const Index& i) {
                         return std::sqrt(sum(
                             4, [&](auto l) { return std::pow(in[0]({i[0], l}) - in[1]({i[1], l}), 2); }));
                       }))
      .error("cdist", [] { ebb::cdist(ebb::ones({3, 4}), ebb::ones({2, 3})); });
  two("cdist.three", [](V a, V b) { return ebb::cdist(a, b, 3); }, {3, 4}, {2, 4})
      .no_half("float and double only, as in PyTorch")
      .reference(built({3, 2}, [](const Arrays& in, const Index& i) {
        return std::cbrt(
            sum(4, [&](auto l) { return std::pow(std::fabs(in[0]({i[0], l}) - in[1]({i[1], l})), 3); }));
      }));
  two("cdist.infinity", [](V a, V b) { return ebb::cdist(a, b, INFINITY); }, {3, 4}, {2, 4})
      .no_half("float and double only, as in PyTorch")
      .reference(built({3, 2}, [](const Arrays& in, const Index& i) {
        double most = 0;
        for (std::int64_t l = 0; l < 4; ++l)
          most = std::fmax(most, std::fabs(in[0]({i[0], l}) - in[1]({i[1], l})));
        return most;
      }));
  two("cdist.one", [](V a, V b) { return ebb::cdist(a, b, 1); }, {3, 4}, {2, 4})
      .no_half("float and double only, as in PyTorch")
      .reference(built({3, 2}, [](const Arrays& in, const Index& i) {
        return sum(4, [&](auto l) { return std::fabs(in[0]({i[0], l}) - in[1]({i[1], l})); });
      }));
}

}  // namespace

void register_linalg() {
  family("linalg");
  products();
  added();
  composed();
}

}  // namespace optable
