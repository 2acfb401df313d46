// Rows of norms, condition number, rank and exponential of matrices.
#include <ebb/ops/linalg.h>

#include "optable/dense.h"
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>
#include <numeric>

namespace optable {
namespace {

using dense::Mat;
namespace la = ebb::linalg;

Row& of(const char* name, Row::Function f) { return row(name, std::move(f)).tolerance(2e-4); }

template <class F>
Row::Reference numbers(F f) {
  return [f](const Arrays& in) { return Arrays{dense::each_number(in[0], f)}; };
}
double row_sum(const Mat& a, std::int64_t i) {
  double s = 0;
  for (std::int64_t j = 0; j < a.n; ++j) s += std::fabs(a(i, j));
  return s;
}
double largest_row(const Mat& a) {
  double most = 0;
  for (std::int64_t i = 0; i < a.m; ++i) most = std::fmax(most, row_sum(a, i));
  return most;
}
double smallest_row(const Mat& a) {
  double least = INFINITY;
  for (std::int64_t i = 0; i < a.m; ++i) least = std::fmin(least, row_sum(a, i));
  return least;
}
double squares(const Mat& a) { return std::inner_product(a.v.begin(), a.v.end(), a.v.begin(), 0.0); }
double nuclear(const Mat& a) {
  const std::vector<double> s = dense::singular_values(a);
  return std::accumulate(s.begin(), s.end(), 0.0);
}
std::vector<std::vector<Sizes>> shapes() { return {{{4, 3}}, {{2, 3, 4}}}; }
std::vector<std::vector<Sizes>> square() { return {{{3, 3}}, {{2, 4, 4}}}; }

void norms() {
  of("matrix_norm",
     [](In x) {
       return variable_list{la::matrix_norm(x[0]), la::matrix_norm(x[0].mT(), "fro", {-1, -2}, true)};
     })
      .shapes(shapes())
      .roundings(4)
      .reference([](const Arrays& in) {
        const Array norms = dense::each_number(in[0], [](const Mat& a) { return std::sqrt(squares(a)); });
        Array kept = norms;
        kept.sizes.insert(kept.sizes.end(), {1, 1});
        return Arrays{norms, kept};
      })
      .error("Order foo not supported", [] { la::matrix_norm(ebb::eye(2), "foo"); })
      .error("Order 3 not supported", [] { la::matrix_norm(ebb::eye(2), 3); })
      .error("dims must be different", [] { la::matrix_norm(ebb::eye(2), "fro", {0, -2}); })
      .error("at least 2 dimensions", [] { la::matrix_norm(ebb::ones({2})); });
  of("matrix_norm.sums",
     [](In x) {
       return variable_list{la::matrix_norm(x[0], INFINITY), la::matrix_norm(x[0], -INFINITY),
                            la::matrix_norm(x[0].mT(), 1), la::matrix_norm(x[0].mT(), -1)};
     })
      .shapes(shapes())
      .roundings(4)
      .reference([](const Arrays& in) {
        const Array most = dense::each_number(in[0], largest_row),
                    least = dense::each_number(in[0], smallest_row);
        return Arrays{most, least, most, least};
      });
  of("matrix_norm.values",
     [](In x) {
       const Variable a = dense::graded(x[0]);
       return variable_list{la::matrix_norm(a, 2), la::matrix_norm(a, -2),
                            la::matrix_norm(a, "nuc", {-2, -1}, true).squeeze(-1).squeeze(-1)};
     })
      .shapes(shapes())
      .no_half(dense::kNoHalf)
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each_number(in[0],
                               [](const Mat& a) { return dense::singular_values(dense::graded(a)).front(); }),
            dense::each_number(in[0],
                               [](const Mat& a) { return dense::singular_values(dense::graded(a)).back(); }),
            dense::each_number(in[0], [](const Mat& a) { return nuclear(dense::graded(a)); })};
      });
  of("nuclear_norm",
     [](In x) {
       return variable_list{ebb::nuclear_norm(dense::graded(x[0])),
                            ebb::nuclear_norm(dense::graded(x[0]), {1, 0}, true).flatten()};
     })
      .shapes({{{3, 4}}})
      .no_half(dense::kNoHalf)
      .reference([](const Arrays& in) {
        const Array norm = dense::each_number(in[0], [](const Mat& a) { return nuclear(dense::graded(a)); });
        return Arrays{norm, Array{{1}, norm.values}};
      });
  of("linalg_norm",
     [](In x) {
       return variable_list{la::norm(x[0]), la::norm(x[0], INFINITY),
                            la::norm(x[0], 3, ebb::IntArrayRef({0})).sum(), la::norm(x[0], "fro")};
     })
      .shapes({{{4, 3}}})
      .roundings(8)
      .reference([](const Arrays& in) {
        const Array norm = dense::each_number(in[0], [](const Mat& a) { return std::sqrt(squares(a)); });
        const auto cubes = [](const Mat& a) {
          double all = 0;
          for (std::int64_t j = 0; j < a.n; ++j) {
            double column = 0;
            for (std::int64_t i = 0; i < a.m; ++i) column += std::pow(std::fabs(a(i, j)), 3);
            all += std::cbrt(column);
          }
          return all;
        };
        return Arrays{norm, dense::each_number(in[0], largest_row), dense::each_number(in[0], cubes), norm};
      })
      .error("must be 1D or 2D. Got 3D", [] { la::norm(ebb::ones({2, 2, 2}), 2); })
      .error("length 1 or 2", [] { la::norm(ebb::ones({2, 2, 2}), 2, ebb::IntArrayRef({0, 1, 2})); });
  of("cond",
     [](In x) {
       const Variable a = dense::graded(x[0]);
       return variable_list{la::cond(a), la::cond(a, -2)};
     })
      .shapes(shapes())
      .no_half(dense::kNoHalf)
      .reference([](const Arrays& in) {
        const Array most = dense::each_number(in[0], [](const Mat& a) {
          const std::vector<double> s = dense::singular_values(dense::graded(a));
          return s.front() / s.back();
        });
        Array least = most;
        for (double& each : least.values) each = 1 / each;
        return Arrays{most, least};
      })
      .error("Order 3 not supported", [] { la::cond(ebb::eye(2), 3); });
  of("cond.by_inverse",
     [](In x) {
       const Variable a = dense::graded(x[0]);
       return variable_list{la::cond(a, INFINITY), la::cond(a, "fro"), la::cond(a, "nuc"), la::cond(a, 1)};
     })
      .shapes(square())
      .no_half(dense::kNoHalf)
      .reference([](const Arrays& in) {
        const auto by = [&](double (*norm)(const Mat&)) {
          return dense::each_number(in[0], [=](const Mat& a) {
            return norm(dense::graded(a)) * norm(dense::inverse(dense::graded(a)));
          });
        };
        return Arrays{by(largest_row), by([](const Mat& a) { return std::sqrt(squares(a)); }), by(nuclear),
                      by([](const Mat& a) { return largest_row(transpose(a)); })};
      });
  of("matrix_rank",
     [](In x) {
       const Variable tall = dense::graded(x[0]), thin = ebb::matmul(tall, tall.mT());
       return variable_list{la::matrix_rank(thin), la::matrix_rank(thin, 1e-3, true), la::matrix_rank(tall),
                            la::matrix_rank(thin, 1e6)};
     })
      .shapes({{{4, 2}}})
      .no_half(dense::kNoHalf)
      .order(0, "the result consists of integers")
      .reference([](const Arrays&) { return Arrays{{{}, {2}}, {{}, {2}}, {{}, {2}}, {{}, {0}}}; });
}

Mat exponential(const Mat& a) {
  Mat out = dense::identity(a.n), term = out;
  for (int k = 1; k < 120; ++k) {
    term = times(term, a);
    for (double& v : term.v) v /= k;
    out = combine(out, 1, term);
  }
  return out;
}

void others() {
  of("matrix_exp",
     [](In x) {
       return variable_list{
           la::matrix_exp(x[0] / static_cast<double>(std::max<std::int64_t>(x[0].size(-1), 1)))};
     })
      .shapes({{{3, 3}}, {{2, 2, 2}}})
      .no_half(dense::kNoHalf)
      .reference([](const Arrays& in) {
        return Arrays{dense::each(in[0], [](Mat a) {
          for (double& v : a.v) v /= static_cast<double>(a.n);
          return exponential(a);
        })};
      })
      .error("must be batches of square matrices", [] { ebb::matrix_exp(ebb::ones({2, 3})); });
  // Matrices that need scaling, each by its own power of two.
  of("matrix_exp.large",
     [](In x) { return variable_list{ebb::matrix_exp(ebb::cat({x[0] * 3, x[0] * 0.1}))}; })
      .shapes({{{2, 3, 3}}})
      .no_half(dense::kNoHalf)
      .double_only("exponentials of 20 and more lose too many digits to compare")
      .range(-1.5, 1.5)
      .reference([](const Arrays& in) {
        Array out{{4, 3, 3}, {}};
        for (const double f : {3.0, 0.1})
          for (std::size_t i = 0; i < 2; ++i) {
            Mat a = dense::matrix(in[0], i);
            for (double& v : a.v) v *= f;
            for (const double v : exponential(a).v) out.values.push_back(v);
          }
        return Arrays{out};
      });
  of("vecdot", [](In x) { return variable_list{la::vecdot(x[0], x[1])}; })
      .shapes({{{2, 3}, {3}}})
      .roundings(4)
      .reference(built({2}, [](const Arrays& in, const Index& i) {
        double s = 0;
        for (std::int64_t j = 0; j < 3; ++j) s += in[0]({i[0], j}) * in[1]({j});
        return s;
      }));
  of("linalg_diagonal", [](In x) { return variable_list{la::diagonal(x[0], 1)}; })
      .shapes({{{2, 3, 4}}})
      .reference(
          built({2, 3}, [](const Arrays& in, const Index& i) { return in[0]({i[0], i[1], i[1] + 1}); }));
  of("linalg_vander", [](In x) { return variable_list{la::vander(x[0], 4), la::vander(x[0])}; })
      .shapes({{{2, 3}}})
      .roundings(8)
      .reference([](const Arrays& in) {
        const auto powers = [&](std::int64_t n) {
          return built({2, 3, n}, [](const Arrays& x, const Index& i) {
            return std::pow(x[0]({i[0], i[1]}), i[2]);
          })(in)[0];
        };
        return Arrays{powers(4), powers(3)};
      })
      .error("N must be greater than 1", [] { la::vander(ebb::ones({2}), 1); });
  of("matrix_H", [](In x) { return variable_list{ebb::matrix_H(x[0])}; })
      .shapes({{{2, 3}}})
      .reference(built({3, 2}, [](const Arrays& in, const Index& i) { return in[0]({i[1], i[0]}); }))
      .error("expected a matrix", [] { ebb::matrix_H(ebb::ones({2, 2, 2})); });
}

}  // namespace

void register_matrix() {
  family("decomposition");
  norms();
  others();
}

}  // namespace optable
