// Roots of matrices, polar and truncated decompositions.
#include "optable/dense.h"
#include "optable/reference.h"
#include "optable/table.h"

#include <ebb/linalg.h>

#include <utility>

namespace optable {
namespace {

using dense::Mat;
namespace la = ebb::linalg;

Row& of(const char* name, Row::Function f) {
  return row(name, std::move(f)).no_half(dense::kNoHalf).tolerance(2e-4);
}

// By the iteration of Denman and Beavers.
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

// Singular values and what they put together, from as many directions as there are.
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
      .error("must be batches of square", [] {
        la::matrix_sqrth(ebb::ones({2, 3}));
      });
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
      .error("at least as many rows as columns, but got 2 by 3", [] {
        la::polar(ebb::ones({2, 3}));
      });
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
      .error("q must be between 0 and min(m, n), 2, got 3",
             [] {
               ebb::svd_lowrank(ebb::ones({2, 3}), 3);
             })
      .error("niter must not be negative", [] {
        ebb::svd_lowrank(ebb::ones({2, 3}), 1, -1);
      });
  of("pca_lowrank",
     [](In x) {
       ebb::manual_seed(11);
       return put_together(ebb::pca_lowrank(dense::graded(x[0]), 3));
     })
      .shapes({{{5, 3}}})
      .no_reference("svd_lowrank of what is left of the mean; the next row shows that")
      .error("q must be between 0 and min(m, n), 2, got 3", [] {
        ebb::pca_lowrank(ebb::ones({2, 3}), 3);
      });
  of("pca_lowrank.mean",
     [](In x) {
       ebb::manual_seed(11);
       return variable_list{put_together(ebb::pca_lowrank(dense::graded(x[0])))[1]};
     })
      .shapes({{{5, 3}}})
      .order(0, "the row before has its slopes")
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
