// Rows of factorisations. If a factorisation is defined only up to signs, functions that do not depend on
// them are tested.
#include <ebb/ops/linalg.h>

#include "optable/dense.h"
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

using dense::Mat;
namespace la = ebb::linalg;

std::vector<std::vector<Sizes>> square() { return {{{3, 3}}, {{2, 4, 4}}}; }
std::vector<std::vector<Sizes>> shapes() { return {{{4, 3}}, {{3, 4}}, {{2, 3, 3}}}; }

Row& of(const char* name, Row::Function f) {
  return row(name, std::move(f)).no_half(dense::kNoHalf).tolerance(2e-4);
}

constexpr const char* kSigns = "the signs of the factors' columns are the algorithm's choice";

template <class F>
Row::Reference matrices(F f) {
  return [f](const Arrays& in) { return Arrays{dense::each(in[0], f)}; };
}

Mat lower_factor(const Mat& a) {
  Mat l(a.m, a.n);
  for (std::int64_t j = 0; j < a.n; ++j)
    for (std::int64_t i = j; i < a.m; ++i) {
      double s = a(i, j);
      for (std::int64_t k = 0; k < j; ++k) s -= l(i, k) * l(j, k);
      l(i, j) = i == j ? std::sqrt(s) : s / l(j, j);
    }
  return l;
}

Variable low(V x) { return x.tril(-1) + x.tril(-1).mT() + x.diagonal(0, -2, -1).diag_embed(); }

void lu() {
  of("lu",
     [](In x) {
       const auto [P, L, U] = la::lu(x[0]);
       return variable_list{ebb::matmul(ebb::matmul(P, L), U), ebb::matmul(P, P.mT()), L, U};
     })
      .shapes(shapes())
      .reference([](const Arrays& in) {
        return Arrays{in[0], dense::each(in[0], [](const Mat& a) { return dense::identity(a.m); })};
      })
      .unreferenced(2, "lu.unpivoted has references of the factors")
      .error("linalg.lu", [] { la::lu(ebb::ones({2, 2}).to(ebb::kHalf)); });
  of("lu.unpivoted",
     [](In x) {
       const auto [P, L, U] = la::lu(dense::tame(x[0]), false);
       return variable_list{ebb::matmul(L, U), L, U, P};
     })
      .shapes(shapes())
      .reference([](const Arrays& in) {
        const auto factor = [&](auto part) {
          return dense::each(in[0], [=](const Mat& a) { return part(dense::unpivoted(dense::tame(a))); });
        };
        return Arrays{dense::each(in[0], [](const Mat& a) { return dense::tame(a); }),
                      factor([](const auto& lu) { return lu.first; }),
                      factor([](const auto& lu) { return lu.second; }),
                      dense::each(in[0], [](const Mat& a) { return dense::identity(a.m); })};
      });
  of("lu_factor",
     [](In x) {
       const auto [LU, pivots] = la::lu_factor(dense::tame(x[0]));
       return variable_list{LU, pivots};
     })
      .shapes(shapes())
      .no_reference("lu_unpack and lu_solve check the factors")
      .error("U[2,2] is zero", [] { la::lu_factor(ebb::ones({2, 2})); })
      .error("(Batch element 1): U[1,1]",
             [] { la::lu_factor(ebb::stack({ebb::eye(2), ebb::zeros({2, 2})})); });
  of("lu_factor_ex",
     [](In x) {
       const auto [LU, pivots, info] = la::lu_factor_ex(x[0]);
       return variable_list{LU, pivots, info};
     })
      .shapes(shapes())
      .no_reference("the same as lu_factor");
  of("lu_unpack",
     [](In x) {
       const auto [LU, pivots] = la::lu_factor(dense::tame(x[0]));
       const auto [P, L, U] = ebb::lu_unpack(LU * 1.0, pivots);
       return variable_list{ebb::matmul(ebb::matmul(P, L), U), L, U};
     })
      .shapes(shapes())
      .reference(matrices([](const Mat& a) { return dense::tame(a); }))
      .unreferenced(2, "lu.unpivoted has references of the factors")
      .error("pivots should be a tensor of Int",
             [] { ebb::lu_unpack(ebb::eye(2), ebb::ones({2}, ebb::kLong)); })
      .error("between 1 and 2", [] { ebb::lu_unpack(ebb::eye(2), ebb::full({2}, 7, ebb::kInt)); });
}

void cholesky() {
  of("cholesky",
     [](In x) {
       return variable_list{ebb::cholesky(dense::gram(x[0])), la::cholesky(dense::gram(x[0]), true)};
     })
      .shapes(square())
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each(in[0], [](const Mat& a) { return lower_factor(dense::gram(a)); }),
            dense::each(in[0], [](const Mat& a) { return transpose(lower_factor(dense::gram(a))); })};
      })
      .error("the leading minor of order 2 is not positive-definite",
             [] { ebb::cholesky(ebb::ones({3, 3})); })
      .error("must be batches of square matrices, but they are 2 by 3",
             [] { ebb::cholesky(ebb::ones({2, 3})); });
  of("cholesky_ex",
     [](In x) {
       const auto [L, info] = la::cholesky_ex(dense::gram(x[0]));
       return variable_list{L, info};
     })
      .shapes(square())
      .reference([](const Arrays& in) {
        return Arrays{dense::each(in[0], [](const Mat& a) { return lower_factor(dense::gram(a)); }),
                      dense::each_number(in[0], [](const Mat&) { return 0.0; })};
      });
  // The input is the factor itself, and only one triangle is read.
  of("cholesky_inverse",
     [](In x) {
       return variable_list{ebb::cholesky_inverse(dense::tame(x[0])),
                            ebb::cholesky_inverse(dense::tame(x[0]), true)};
     })
      .shapes(square())
      .reference([](const Arrays& in) {
        const auto inverse = [&](bool upper) {
          return dense::each(in[0], [=](const Mat& a) {
            Mat l = upper ? transpose(dense::tame(a)) : dense::tame(a);
            for (std::int64_t i = 0; i < l.m; ++i)
              for (std::int64_t j = i + 1; j < l.n; ++j) l(i, j) = 0;
            return dense::inverse(times(l, transpose(l)));
          });
        };
        return Arrays{inverse(false), inverse(true)};
      });
}

void qr() {
  of("qr",
     [](In x) {
       const auto [Q, R] = la::qr(dense::tame(x[0]));
       return variable_list{ebb::matmul(Q, R), ebb::matmul(Q.mT(), Q), Q, R};
     })
      .shapes(shapes())
      .reference([](const Arrays& in) {
        return Arrays{dense::each(in[0], [](const Mat& a) { return dense::tame(a); }),
                      dense::each(in[0], [](const Mat& a) { return dense::identity(std::min(a.m, a.n)); })};
      })
      .unreferenced(2, kSigns)
      .error("unrecognized mode 'foo'", [] { la::qr(ebb::ones({2, 2}), "foo"); });
  of("qr.complete",
     [](In x) {
       // Tall matrices have no gradient.
       if (x[0].dim() > 1) EBB_CHECK(x[0].size(-2) <= x[0].size(-1), "this row accepts no tall matrices");
       const auto [Q, R] = ebb::qr(dense::tame(x[0]), false);
       return variable_list{ebb::matmul(Q, R), ebb::matmul(Q.mT(), Q), Q, R};
     })
      .shapes({{{3, 4}}, {{2, 3, 3}}})
      .reference([](const Arrays& in) {
        return Arrays{dense::each(in[0], [](const Mat& a) { return dense::tame(a); }),
                      dense::each(in[0], [](const Mat& a) { return dense::identity(a.m); })};
      })
      .unreferenced(2, kSigns);
  of("qr.tall_and_complete",
     [](In x) {
       const auto [Q, R] = la::qr(x[0], "complete");
       const auto [none, same] = la::qr(x[0], "r");
       return variable_list{ebb::matmul(Q, R), ebb::matmul(Q.mT(), Q), ebb::matmul(same.mT(), same)};
     })
      .shapes({{{4, 2}}})
      .order(0, "Q is not a differentiable function of A, and mode 'r' computes none")
      .reference([](const Arrays& in) {
        return Arrays{in[0], dense::each(in[0], [](const Mat& a) { return dense::identity(a.m); }),
                      dense::each(in[0], [](const Mat& a) { return times(transpose(a), a); })};
      });
  of("geqrf",
     [](In x) {
       const auto [a, tau] = ebb::geqrf(x[0]);
       return variable_list{
           ebb::matmul(ebb::orgqr(a.narrow(-1, 0, tau.size(-1)), tau), a.narrow(-2, 0, tau.size(-1)).triu())};
     })
      .shapes(shapes())
      .order(0, "not differentiable, as in PyTorch")
      .reference([](const Arrays& in) { return Arrays{in[0]}; });
  const auto reflections = [](const Arrays& in) {
    std::size_t at = 0;
    return Arrays{dense::each(in[0], [&](const Mat& a) {
      Mat q = dense::identity(a.m);
      const std::int64_t k = in[1].sizes.back();
      for (std::int64_t j = 0; j < k; ++j) {
        Mat v(a.m, 1);
        for (std::int64_t i = j; i < a.m; ++i) v(i, 0) = i == j ? 1 : a(i, j);
        q = combine(q, -in[1][at++], times(times(q, v), transpose(v)));
      }
      Mat out(a.m, a.n);
      for (std::int64_t i = 0; i < a.m; ++i)
        for (std::int64_t j = 0; j < a.n; ++j) out(i, j) = q(i, j);
      return out;
    })};
  };
  of("orgqr", [](In x) { return variable_list{ebb::orgqr(x[0], x[1])}; })
      .shapes({{{4, 3}, {3}}, {{2, 3, 3}, {2, 2}}})
      .range(-1, 1)
      .reference(reflections);
  of("householder_product", [](In x) { return variable_list{la::householder_product(x[0], x[1])}; })
      .shapes({{{4, 3}, {3}}, {{2, 3, 3}, {2, 2}}})
      .range(-1, 1)
      .reference(reflections)
      .error("greater than or equal to tau",
             [] { la::householder_product(ebb::ones({3, 2}), ebb::ones({3})); })
      .error("greater than or equal to input",
             [] { la::householder_product(ebb::ones({2, 3}), ebb::ones({2})); });
  of("ormqr",
     [](In x) {
       const Variable wide = x[2].mT();
       return variable_list{ebb::ormqr(x[0], x[1], x[2]), ebb::ormqr(x[0], x[1], x[2], true, true),
                            ebb::ormqr(x[0], x[1], wide, false), ebb::ormqr(x[0], x[1], wide, false, true)};
     })
      .shapes({{{4, 2}, {2}, {4, 3}}})
      .range(-1, 1)
      .reference([](const Arrays& in) {
        Mat q = dense::identity(4);
        const Mat a = dense::matrix(in[0]), c = dense::matrix(in[2]);
        for (std::int64_t j = 0; j < 2; ++j) {
          Mat v(4, 1);
          for (std::int64_t i = j; i < 4; ++i) v(i, 0) = i == j ? 1 : a(i, j);
          q = combine(q, -in[1][static_cast<std::size_t>(j)], times(times(q, v), transpose(v)));
        }
        const auto array = [](const Mat& x) { return Array{{x.m, x.n}, x.v}; };
        return Arrays{array(times(q, c)), array(times(transpose(q), c)), array(times(transpose(c), q)),
                      array(times(transpose(c), transpose(q)))};
      })
      .error("must be equal to input.shape[-2]",
             [] { ebb::ormqr(ebb::ones({3, 2}), ebb::ones({2}), ebb::ones({2, 2})); });
}

void eigenvalues() {
  // The results do not depend on the signs of the eigenvectors.
  of("eigh",
     [](In x) {
       const auto [L, Q] = la::eigh(low(dense::spread(x[0])));
       return variable_list{L, ebb::matmul(Q * L.unsqueeze(-2), Q.mT()),
                            ebb::matmul(Q * (L * 0.1).sin().unsqueeze(-2), Q.mT()), Q * Q};
     })
      .shapes(square())
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each_list(in[0], [](const Mat& a) { return dense::eigenvalues(dense::spread(a)); }),
            dense::each(in[0], [](const Mat& a) { return dense::spread(a); })};
      })
      .unreferenced(
          2, "a function of the eigenvalues with the same eigenvectors, and the squares of the eigenvectors")
      .error("must be batches of square", [] { la::eigh(ebb::ones({2, 3})); })
      .error("Expected UPLO argument to be 'L' or 'U', but got X", [] { la::eigh(ebb::eye(2), "X"); })
      .error("failed to converge", [] { la::eigh(ebb::full({2, 2}, NAN)); });
  of("eigvalsh", [](In x) { return variable_list{la::eigvalsh(dense::spread(x[0]), "U")}; })
      .shapes(square())
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each_list(in[0], [](const Mat& a) { return dense::eigenvalues(dense::spread(a)); })};
      });
}

void singular_values() {
  of("svd",
     [](In x) {
       const auto [U, S, Vh] = la::svd(dense::graded(x[0]), false);
       return variable_list{S, ebb::matmul(U * S.unsqueeze(-2), Vh),
                            ebb::matmul(U * (S * 0.3).sin().unsqueeze(-2), Vh), U * U, Vh * Vh};
     })
      .shapes(shapes())
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each_list(in[0], [](const Mat& a) { return dense::singular_values(dense::graded(a)); }),
            dense::each(in[0], [](const Mat& a) { return dense::graded(a); })};
      })
      .unreferenced(
          3, "a function of the eigenvalues with the same eigenvectors, and the squares of the eigenvectors")
      .error("only supported on CUDA", [] { la::svd(ebb::eye(2), true, "gesvd"); })
      .error("non-finite", [] { la::svd(ebb::full({2, 2}, NAN)); });
  of("svd.full",
     [](In x) {
       const auto [U, S, V] = ebb::svd(dense::graded(x[0]), false);
       const std::int64_t k = S.size(-1);
       return variable_list{
           ebb::matmul(U.mT(), U).detach(), ebb::matmul(V.mT(), V).detach(), S,
           ebb::matmul(U.narrow(-1, 0, k) * S.exp().log1p().unsqueeze(-2), V.narrow(-1, 0, k).mT())};
     })
      .shapes(shapes())
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each(in[0], [](const Mat& a) { return dense::identity(a.m); }),
            dense::each(in[0], [](const Mat& a) { return dense::identity(a.n); }),
            dense::each_list(in[0], [](const Mat& a) { return dense::singular_values(dense::graded(a)); })};
      })
      .unreferenced(1, "a function of the eigenvalues with the same eigenvectors");
  of("svdvals", [](In x) { return variable_list{la::svdvals(dense::graded(x[0]))}; })
      .shapes(shapes())
      .reference([](const Arrays& in) {
        return Arrays{
            dense::each_list(in[0], [](const Mat& a) { return dense::singular_values(dense::graded(a)); })};
      });
}

void ldl() {
  // Large numbers outside of the diagonal require pivot blocks of two rows.
  const auto indefinite = [](V x) {
    if (x.dim() < 2) return x * 1;
    const Variable ones = ebb::eye(x.size(-1), x.options().requires_grad(false));
    return (x + x.mT()) / 2 + 4 * ones.flip(0);
  };
  of("ldl_factor",
     [=](In x) {
       const auto [LD, pivots] = la::ldl_factor(indefinite(x[0]));
       return variable_list{
           la::ldl_solve(LD, pivots, ebb::eye(x[0].size(-1), LD.options().requires_grad(false)))};
     })
      .shapes(square())
      .order(0, "not differentiable, as in PyTorch")
      .reference(matrices([](const Mat& a) {
        Mat sum = combine(a, 1, transpose(a));
        for (double& v : sum.v) v /= 2;
        for (std::int64_t i = 0; i < a.n; ++i) sum(i, a.n - 1 - i) += 4;
        return dense::inverse(sum);
      }))
      .error("D[1,1] is zero", [] { la::ldl_factor(ebb::zeros({2, 2})); });
  of("ldl_factor_ex",
     [=](In x) {
       const auto [LD, pivots, info] = la::ldl_factor_ex(indefinite(x[0]));
       return variable_list{LD, pivots, info};
     })
      .shapes(square())
      .order(0, "not differentiable, as in PyTorch")
      .no_reference("ldl_solve checks the factors");
  of("ldl_solve",
     [=](In x) {
       const auto [LD, pivots, info] = la::ldl_factor_ex(indefinite(x[0]));
       return variable_list{ebb::matmul(indefinite(x[0]), la::ldl_solve(LD, pivots, x[1]))};
     })
      .shapes({{{5, 5}, {5, 2}}, {{2, 4, 4}, {4, 3}}})
      .order(0, "not differentiable, as in PyTorch")
      .reference([](const Arrays& in) {
        Array out{in[1].sizes, {}};
        if (in[0].sizes.size() == 3) out.sizes.insert(out.sizes.begin(), in[0].size(0));
        for (std::size_t i = 0; i < dense::count(in[0]); ++i)
          out.values.insert(out.values.end(), in[1].values.begin(), in[1].values.end());
        return Arrays{out};
      })
      .error("Incompatible shapes",
             [] { la::ldl_solve(ebb::eye(2), ebb::ones({2}, ebb::kInt), ebb::ones({3, 1})); });
}

}  // namespace

void register_decomposition() {
  family("decomposition");
  lu();
  cholesky();
  qr();
  eigenvalues();
  singular_values();
  ldl();
}

}  // namespace optable
