// Rows of linear systems, inverses and determinants; matrix roots, polar and truncated decompositions.
#include <ebb/ops/linalg.h>

#include "optable/dense.h"
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>
#include <utility>

// Linear systems, inverses, determinants.

namespace optable {
namespace {

using dense::Mat;
namespace la = ebb::linalg;

std::vector<std::vector<Sizes>> square() { return {{{3, 3}}, {{2, 4, 4}}}; }

Row& of(const char* name, Row::Function f) {
  return row(name, std::move(f)).no_half(dense::kNoHalf).tolerance(2e-4);
}

template <class F>
Row::Reference matrices(F f) {
  return [f](const Arrays& in) { return Arrays{dense::each(in[0], f)}; };
}
// Returns the solutions for one matrix of right-hand sides in each system.
Row::Reference solved(bool transposed = false) {
  return [=](const Arrays& in) {
    return Arrays{dense::each(in[0], [&](const Mat& a) {
      const Mat t = dense::tame(a);
      return dense::solve(transposed ? transpose(t) : t, dense::matrix(in[1]));
    })};
  };
}
// Returns the triangle, with or without a unit diagonal.
Mat triangle(Mat a, bool upper, bool unit) {
  for (std::int64_t i = 0; i < a.m; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) {
      if (upper ? i > j : i < j) a(i, j) = 0;
      if (i == j && unit) a(i, j) = 1;
    }
  return a;
}
Mat pseudoinverse(const Mat& a) {
  const Mat t = transpose(a);
  if (a.m >= a.n) return dense::solve(times(t, a), t);
  return transpose(dense::solve(times(a, t), a));
}

void systems() {
  of("solve", [](In x) { return variable_list{la::solve(dense::tame(x[0]), x[1])}; })
      .shapes({{{3, 3}, {3, 2}}, {{2, 4, 4}, {4, 1}}})
      .reference(solved())
      .error("The solver failed because the input matrix is singular",
             [] { la::solve(ebb::ones({2, 2}), ebb::ones({2})); })
      .error("Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)",
             [] { la::solve(ebb::eye(2), ebb::ones({3})); })
      .error("same dtype", [] { la::solve(ebb::eye(2), ebb::ones({2, 2}, ebb::kDouble)); });
  of("solve.vectors", [](In x) { return variable_list{la::solve(dense::tame(x[0]), x[1])}; })
      .shapes({{{3, 3}, {3}}, {{2, 4, 4}, {2, 4}}})
      .reference([](const Arrays& in) {
        std::size_t at = 0;
        Array out{in[1].sizes, {}};
        for (std::size_t i = 0; i < dense::count(in[0]); ++i) {
          const Mat a = dense::tame(dense::matrix(in[0], i));
          Mat b(a.m, 1);
          for (double& v : b.v) v = in[1][at++];
          for (const double v : dense::solve(a, b).v) out.values.push_back(v);
        }
        return Arrays{out};
      });
  of("solve.right", [](In x) { return variable_list{la::solve(dense::tame(x[0]), x[1].mT(), false).mT()}; })
      .shapes({{{3, 3}, {3, 2}}})
      .reference(solved(true));
  of("solve_ex",
     [](In x) {
       const auto [X, info] = la::solve_ex(dense::tame(x[0]), x[1]);
       return variable_list{X, info};
     })
      .shapes({{{3, 3}, {3, 2}}})
      .reference([](const Arrays& in) {
        return Arrays{solved()(in)[0], dense::each_number(in[0], [](const Mat&) { return 0.0; })};
      });
  of("lu_solve",
     [](In x) {
       const auto [LU, pivots, info] = la::lu_factor_ex(dense::tame(x[0]));
       return variable_list{ebb::lu_solve(x[1], LU, pivots), la::lu_solve(LU, pivots, x[1], true, true),
                            la::lu_solve(LU, pivots, x[1].mT(), false)};
     })
      .shapes({{{3, 3}, {3, 2}}, {{2, 4, 4}, {4, 3}}})
      .reference([](const Arrays& in) {
        const auto right = [](const Arrays& x) {  // X A = B^T, so that A^T X^T = B
          return dense::each(x[0], [&](const Mat& a) {
            return transpose(dense::solve(transpose(dense::tame(a)), dense::matrix(x[1])));
          });
        };
        return Arrays{solved()(in)[0], solved(true)(in)[0], right(in)};
      })
      .error("expected pivots of shape [2]",
             [] { la::lu_solve(ebb::eye(2), ebb::ones({3}, ebb::kInt), ebb::eye(2)); });
  for (const bool upper : {false, true})
    for (const bool unit : {false, true})
      of(upper ? (unit ? "solve_triangular.upper_unit" : "solve_triangular.upper")
               : (unit ? "solve_triangular.lower_unit" : "solve_triangular"),
         [=](In x) {
           return variable_list{la::solve_triangular(dense::tame(x[0]), x[1], upper, true, unit)};
         })
          .shapes({{{3, 3}, {3, 2}}, {{2, 4, 4}, {4, 1}}})
          .reference([=](const Arrays& in) {
            return Arrays{dense::each(in[0], [&](const Mat& a) {
              return dense::solve(triangle(dense::tame(a), upper, unit), dense::matrix(in[1]));
            })};
          })
          .error("B must have at least 2 dimensions",
                 [] { la::solve_triangular(ebb::eye(2), ebb::ones({2}), true); });
  of("solve_triangular.right",
     [](In x) { return variable_list{la::solve_triangular(dense::tame(x[0]), x[1].mT(), true, false).mT()}; })
      .shapes({{{3, 3}, {3, 2}}})
      .reference([](const Arrays& in) {
        return Arrays{dense::each(in[0], [&](const Mat& a) {
          return dense::solve(transpose(triangle(dense::tame(a), true, false)), dense::matrix(in[1]));
        })};
      });
  of("triangular_solve",
     [](In x) {
       const auto [X, A] = ebb::triangular_solve(x[1], dense::tame(x[0]), true, true);
       return variable_list{X, A};
     })
      .shapes({{{3, 3}, {3, 2}}})
      .reference([](const Arrays& in) {
        return Arrays{dense::each(in[0],
                                  [&](const Mat& a) {
                                    return dense::solve(transpose(triangle(dense::tame(a), true, false)),
                                                        dense::matrix(in[1]));
                                  }),
                      dense::each(in[0], [](const Mat& a) { return dense::tame(a); })};
      });
  of("cholesky_solve",
     [](In x) {
       return variable_list{ebb::cholesky_solve(x[1], dense::tame(x[0])),
                            ebb::cholesky_solve(x[1], dense::tame(x[0]).mT(), true)};
     })
      .shapes({{{3, 3}, {3, 2}}, {{2, 4, 4}, {4, 1}}})
      .reference([](const Arrays& in) {
        const Array X = dense::each(in[0], [&](const Mat& a) {
          const Mat l = triangle(dense::tame(a), false, false);
          return dense::solve(times(l, transpose(l)), dense::matrix(in[1]));
        });
        return Arrays{X, X};
      });
  // The matrices keep full rank: 4 equations for 2 unknowns, or 2 for 4.
  for (const char* const driver : {"gelsy", "gels", "gelss"})
    of(driver == std::string("gelsy") ? "lstsq"
                                      : (driver == std::string("gels") ? "lstsq.gels" : "lstsq.gelss"),
       [=](In x) {
         const auto [X, residuals, rank, values] = la::lstsq(dense::graded(x[0]), x[1], ebb::nullopt, driver);
         return variable_list{X, residuals, rank, values.gt(0)};
       })
        .shapes({{{4, 3}, {4, 2}}, {{3, 4}, {3, 2}}, {{2, 3, 3}, {1, 3, 1}}})
        .reference([driver = std::string(driver)](const Arrays& in) {
          const auto solution = [&](const Mat& a) {
            return times(pseudoinverse(dense::graded(a)), dense::matrix(in[1]));
          };
          // Sums of squares by column if there are more equations than unknowns; gelsy returns none.
          const bool has_residuals =
              driver != "gelsy" && in[0].sizes[in[0].sizes.size() - 2] > in[0].sizes.back();
          const Array residuals =
              has_residuals
                  ? dense::each_list(in[0],
                                     [&](const Mat& a) {
                                       const Mat off = combine(times(dense::graded(a), solution(a)), -1,
                                                               dense::matrix(in[1]));
                                       std::vector<double> sums(static_cast<std::size_t>(off.n));
                                       for (std::int64_t i = 0; i < off.m; ++i)
                                         for (std::int64_t j = 0; j < off.n; ++j)
                                           sums[static_cast<std::size_t>(j)] += off(i, j) * off(i, j);
                                       return sums;
                                     })
                  : Array{{0}, {}};
          const auto shorter = [](const Mat& a) { return static_cast<double>(std::min(a.m, a.n)); };
          const Array ranks = driver == "gels" ? Array{{0}, {}} : dense::each_number(in[0], shorter);
          const Array positive =
              driver != "gelss" ? Array{{0}, {}} : dense::each_list(in[0], [](const Mat& a) {
                return std::vector<double>(static_cast<std::size_t>(std::min(a.m, a.n)), 1);
              });
          return Arrays{dense::each(in[0], solution), residuals, ranks, positive};
        })
        .error("parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got foo",
               [] { la::lstsq(ebb::eye(2), ebb::eye(2), ebb::nullopt, "foo"); })
        .error("should match", [] { la::lstsq(ebb::eye(2), ebb::eye(3)); });
}

void inverses() {
  of("inv", [](In x) { return variable_list{la::inv(dense::tame(x[0]))}; })
      .shapes(square())
      .reference(matrices([](const Mat& a) { return dense::inverse(dense::tame(a)); }))
      .error("linalg.inv: The diagonal element 2 is zero, the inversion could not be completed",
             [] { la::inv(ebb::ones({2, 2})); })
      .error("linalg.inv: (Batch element 1): The diagonal element 1 is zero",
             [] { la::inv(ebb::stack({ebb::eye(2), ebb::zeros({2, 2})})); })
      .error("Low precision dtypes not supported. Got Half", [] { la::inv(ebb::eye(2).to(ebb::kHalf)); })
      .error("Expected a floating point tensor as input. Got Long",
             [] { la::inv(ebb::eye(2).to(ebb::kLong)); })
      .error("at least 2 dimensions", [] { la::inv(ebb::ones({3})); });
  of("inverse", [](In x) { return variable_list{ebb::inverse(dense::tame(x[0]))}; })
      .shapes(square())
      .reference(matrices([](const Mat& a) { return dense::inverse(dense::tame(a)); }));
  of("inv_ex",
     [](In x) {
       const auto [X, info] = la::inv_ex(dense::tame(x[0]));
       return variable_list{X, info};
     })
      .shapes(square())
      .reference([](const Arrays& in) {
        return Arrays{dense::each(in[0], [](const Mat& a) { return dense::inverse(dense::tame(a)); }),
                      dense::each_number(in[0], [](const Mat&) { return 0.0; })};
      });
  of("pinv", [](In x) { return variable_list{la::pinv(dense::graded(x[0]))}; })
      .shapes({{{4, 3}}, {{3, 4}}, {{2, 3, 3}}})
      .reference(matrices([](const Mat& a) { return pseudoinverse(dense::graded(a)); }));
  of("pinv.hermitian", [](In x) { return variable_list{la::pinv(dense::spread(x[0]), 1e-10, true)}; })
      .shapes(square())
      .reference(matrices([](const Mat& a) { return dense::inverse(dense::spread(a)); }));
  // A matrix of rank 2: the pseudoinverse of the part that x x^T preserves.
  of("pinv.rank_two",
     [](In x) {
       const Variable a = dense::graded(x[0]);
       return variable_list{ebb::linalg_pinv(ebb::matmul(a, a.mT()), 1e-4, ebb::optional<double>(1e-4))};
     })
      .shapes({{{4, 2}}})
      .reference(matrices([](const Mat& a) {
        const Mat p = pseudoinverse(dense::graded(a));
        return times(transpose(p), p);
      }));
  of("pinverse", [](In x) { return variable_list{ebb::pinverse(dense::graded(x[0]))}; })
      .shapes({{{4, 3}}})
      .reference(matrices([](const Mat& a) { return pseudoinverse(dense::graded(a)); }));
  of("tensorinv", [](In x) { return variable_list{la::tensorinv(dense::tame(x[0]).reshape({2, 3, 6}))}; })
      .shapes({{{6, 6}}})
      .reference([](const Arrays& in) {
        Array out = dense::each(in[0], [](const Mat& a) { return dense::inverse(dense::tame(a)); });
        out.sizes = {6, 2, 3};
        return Arrays{out};
      })
      .error("strictly positive", [] { la::tensorinv(ebb::ones({2, 2}), 0); })
      .error("got 4 != 6", [] { la::tensorinv(ebb::ones({2, 3, 4})); });
  of("tensorsolve",
     [](In x) {
       return variable_list{la::tensorsolve(dense::tame(x[0]).reshape({2, 3, 6}), x[1]),
                            la::tensorsolve(dense::tame(x[0]).reshape({6, 2, 3}), x[1].flatten()),
                            la::tensorsolve(dense::tame(x[0]).reshape({2, 3, 6}).permute({2, 0, 1}), x[1],
                                            ebb::IntArrayRef({0}))};
     })
      .shapes({{{6, 6}, {2, 3}}})
      .reference([](const Arrays& in) {
        const Mat X = dense::solve(dense::tame(dense::matrix(in[0])), Mat{[&] {
                                     Mat b(6, 1);
                                     b.v = in[1].values;
                                     return b;
                                   }()});
        return Arrays{{{6}, X.v}, {{2, 3}, X.v}, {{6}, X.v}};
      })
      .error("but got 12 != 2", [] { la::tensorsolve(ebb::ones({2, 3, 4}), ebb::ones({2})); });
}

void determinants() {
  of("det", [](In x) { return variable_list{la::det(dense::tame(x[0]) * 0.6)}; })
      .shapes(square())
      .reference([](const Arrays& in) {
        return Arrays{dense::each_number(in[0], [](const Mat& a) {
          return dense::det(dense::tame(a)) * std::pow(0.6, static_cast<double>(a.m));
        })};
      })
      .error("must be batches of square matrices", [] { ebb::det(ebb::ones({2, 3})); });
  // The elimination swaps rows.
  of("det.plain",
     [](In x) {
       if (x[0].dim() > 1) dense::check_small(x[0]);  // determinants of large matrices are huge
       return variable_list{ebb::det(x[0])};
     })
      .shapes({{{4, 4}}, {{2, 3, 3}}, {{1, 1}}})
      .range(-1, 1)
      .reference([](const Arrays& in) {
        return Arrays{dense::each_number(in[0], [](const Mat& a) { return dense::det(a); })};
      });
  of("slogdet",
     [](In x) {
       const auto [sign, logarithm] = ebb::slogdet(x[0]);
       return variable_list{sign, logarithm};
     })
      .shapes({{{4, 4}}, {{2, 3, 3}}})
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each_number(in[0], [](const Mat& a) { return dense::det(a) > 0 ? 1.0 : -1.0; }),
            dense::each_number(in[0], [](const Mat& a) { return std::log(std::fabs(dense::det(a))); })};
      });
  of("logdet", [](In x) { return variable_list{ebb::logdet(dense::tame(x[0]))}; })
      .shapes(square())
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each_number(in[0], [](const Mat& a) { return std::log(dense::det(dense::tame(a))); })};
      });
}

}  // namespace

void register_solve() {
  family("decomposition");
  systems();
  inverses();
  determinants();
}

// Matrix roots, polar and truncated decompositions.

namespace {

using dense::Mat;
namespace la = ebb::linalg;

// Computes the root by the Denman-Beavers iteration.
Mat root(const Mat& a) {
  Mat x = a, y = dense::identity(a.n);
  for (int i = 0; i < 40; ++i) {
    const Mat before = x;
    x = dense::combine(x, 1, dense::inverse(y));
    y = dense::combine(y, 1, dense::inverse(before));
    for (Mat* each : {&x, &y})
      for (double& v : each->v) v /= 2;
  }
  return x;
}
Mat stretch(const Mat& a) { return root(dense::times(dense::transpose(a), a)); }

Arrays matrices(const Arrays& in, Mat (*first)(const Mat&), Mat (*second)(const Mat&)) {
  return {dense::each(in[0], first), dense::each(in[0], second)};
}

// Returns the singular values and the product of the factors.
variable_list put_together(const std::tuple<Variable, Variable, Variable>& usv) {
  const auto& [U, S, V] = usv;
  return {S, ebb::matmul(U * S.unsqueeze(-2), V.mT())};
}

void roots() {
  of("matrix_sqrth", [](In x) { return variable_list{la::matrix_sqrth(dense::gram(x[0]))}; })
      .shapes({{{3, 3}}, {{2, 4, 4}}})
      .node("LinalgMatrixSqrthBackward0")
      .reference([](const Arrays& in) {
        return Arrays{dense::each(in[0], [](const Mat& a) { return root(dense::gram(a)); })};
      })
      .error("must be batches of square", [] { la::matrix_sqrth(ebb::ones({2, 3})); });
  of("polar",
     [](In x) {
       const auto [U, H] = la::polar(dense::graded(x[0]));
       return variable_list{U, H};
     })
      .shapes({{{3, 3}}, {{4, 3}}, {{2, 3, 2}}})
      .reference([](const Arrays& in) {
        return matrices(
            in,
            [](const Mat& a) {
              const Mat g = dense::graded(a);
              return dense::times(g, dense::inverse(stretch(g)));
            },
            [](const Mat& a) { return stretch(dense::graded(a)); });
      })
      .error("at least as many rows as columns, but got 2 by 3", [] { la::polar(ebb::ones({2, 3})); });
}

void truncated() {
  of("svd_lowrank",
     [](In x) {
       ebb::manual_seed(11);
       return put_together(ebb::svd_lowrank(dense::graded(x[0]), 3));
     })
      .shapes({{{4, 3}}, {{3, 4}}, {{2, 3, 3}}})
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each_list(in[0], [](const Mat& a) { return dense::singular_values(dense::graded(a)); }),
            dense::each(in[0], [](const Mat& a) { return dense::graded(a); })};
      })
      .error("q must be between 0 and min(m, n), 2, got 3", [] { ebb::svd_lowrank(ebb::ones({2, 3}), 3); })
      .error("niter must not be negative", [] { ebb::svd_lowrank(ebb::ones({2, 3}), 1, -1); });
  of("pca_lowrank",
     [](In x) {
       ebb::manual_seed(11);
       return put_together(ebb::pca_lowrank(dense::graded(x[0]), 3));
     })
      .shapes({{{5, 3}}})
      .no_reference("svd_lowrank of the centred input; the next row checks that")
      .error("q must be between 0 and min(m, n), 2, got 3", [] { ebb::pca_lowrank(ebb::ones({2, 3}), 3); });
  of("pca_lowrank.mean",
     [](In x) {
       ebb::manual_seed(11);
       return variable_list{put_together(ebb::pca_lowrank(dense::graded(x[0])))[1]};
     })
      .shapes({{{5, 3}}})
      .order(0, "the previous row checks its derivatives")
      .reference([](const Arrays& in) {
        return Arrays{dense::each(in[0], [](const Mat& a) {
          Mat g = dense::graded(a);
          for (std::int64_t j = 0; j < g.n; ++j) {
            double mean = 0;
            for (std::int64_t i = 0; i < g.m; ++i) mean += g(i, j) / static_cast<double>(g.m);
            for (std::int64_t i = 0; i < g.m; ++i) g(i, j) -= mean;
          }
          return g;
        })};
      });
}

}  // namespace

void register_roots() {
  family("decomposition");
  roots();
  truncated();
}

}  // namespace optable
