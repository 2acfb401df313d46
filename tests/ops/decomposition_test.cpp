// Linear algebra against values of torch 2.15, at singular matrices, and error messages.
#include <ebb/ops/linalg.h>

#include "check.h"

using namespace op_tests;
using namespace ebb;

namespace {

Variable symmetric() { return tensor({4., 1., 2., 1., 3., 0., 2., 0., 5.}, kDouble).view({3, 3}); }
Variable wide() { return tensor({2., -1., 0., 3., 1., 4., -2., 1., 0., 2., 5., -3.}, kDouble).view({3, 4}); }

void check_close(const Variable& got, const Values& expected) {
  const Variable flat = got.detach().to(kDouble).flatten();
  REQUIRE(flat.numel() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(flat[static_cast<std::int64_t>(i)].item<double>() == Approx(expected[i]).margin(1e-11));
  }
}

}  // namespace

TEST_CASE("lu_factor, geqrf and ldl_factor have the factors of LAPACK") {
  const auto [LU, swaps] = linalg::lu_factor(wide());
  check_close(LU, {2, -1, 0, 3, 0.5, 4.5, -2, -0.5, 0, 0.444444444444, 5.888888888889, -2.777777777778});
  check_close(swaps, {1, 2, 3});
  const auto [a, tau] = geqrf(wide());
  check_close(tau, {1.894427191000, 1.895533471189, 0});
  check_close(
      a, {-2.236067977500, -0.894427191000, 0.894427191000, -3.130495168500, 0.236067977500, -4.494441010849,
          -0.622991823286, 1.735477222011, 0, 0.234759325675, 5.273697108113, -2.487592975525});
  const Variable zeros_on_top = tensor({0., 1., 2., 1., 0., 3., 2., 3., 0.}, kDouble).view({3, 3});
  const auto [LD, pivots, info] = linalg::ldl_factor_ex(zeros_on_top);
  check_close(LD, {0, 0, 0, 2, 0, 0, 1.5, 0.5, -3});
  check_close(pivots, {-3, -3, 3});
  check_close(info, {0});
  check_close(linalg::cholesky(symmetric()),
              {2, 0, 0, 0.5, 1.658312395178, 0, 1, -0.301511344578, 1.977142106448});
}

TEST_CASE("linear algebra functions have the values and gradients of torch") {
  check_close(linalg::eigvalsh(symmetric()), {1.854897308800, 3.476023602918, 6.669079088282});
  check_close(linalg::svdvals(wide()), {6.592096288174, 4.570568984937, 3.107115331200});
  check_close(linalg::matrix_exp(symmetric() / 4),
              {3.178437835856, 0.636506381672, 1.623820173641, 0.636506381672, 2.191124043887, 0.175403705148,
               1.623820173641, 0.175403705148, 3.902646070102});
  check_close(linalg::pinv(wide()), {0.187015061616, 0.050775901415, 0.060816978549, -0.030693747147,
                                     0.199109995436, 0.069945230488, 0.131332724783, -0.060132359653,
                                     0.161684162483, 0.198425376540, 0.032519397535, -0.017229575536});
  check_close(linalg::cond(symmetric(), 1), {4.232558139535});
  check_close(linalg::cond(symmetric(), "nuc"), {11.720930232558});
  const auto [X, residuals, rank, values] =
      linalg::lstsq(wide().mT(), tensor({1., 2., 3., 4.}, kDouble).unsqueeze(-1), nullopt, "gelsd");
  check_close(X, {1.313327247832, 0.398676403469, 0.616841624829});
  check_close(residuals, {7.131446827932});
  check_close(rank, {3});
  check_close(values, {6.592096288174, 4.570568984937, 3.107115331200});
  const Variable leaf = symmetric().requires_grad_();
  linalg::cholesky(leaf).sum().backward();
  check_close(leaf.grad(), {0.235388640621, -0.014918596271, 0.036682016894, -0.014918596271, 0.364691597953,
                            0.347491393565, 0.036682016894, 0.347491393565, 0.252890269429});
}

TEST_CASE("det of a singular matrix has first and second derivatives") {
  const Variable x = diag(tensor({1., 2., 0.}, kDouble)).requires_grad_();
  check_close(autograd::grad({linalg::det(x)}, {x}, {})[0], {0, 0, 0, 0, 0, 0, 0, 0, 2});
  const Variable first = autograd::grad({linalg::det(x)}, {x}, {}, true, true)[0];
  check_close(first, {0, 0, 0, 0, 0, 0, 0, 0, 2});
  const Variable second = autograd::grad({(first * count({3, 3})).sum()}, {x}, {})[0];
  check_close(second, {16, 0, -12, 0, 8, -7, -4, -5, 4});
  const auto [sign, logarithm] = slogdet(zeros({3, 3}));
  CHECK(sign.item<float>() == 0);
  CHECK(logarithm.item<float>() == -INFINITY);
  CHECK(std::isnan(logdet(-eye(3)).item<float>()));
  CHECK(det(zeros({0, 0})).item<float>() == 1);
}

TEST_CASE("the _ex functions report failures in info instead of throwing") {
  const Variable batch = stack({eye(2), ones({2, 2}), -eye(2)});
  check_close(std::get<1>(linalg::inv_ex(batch)), {0, 2, 0});
  check_close(std::get<1>(linalg::solve_ex(batch, ones({2, 1}))), {0, 2, 0});
  check_close(std::get<2>(linalg::lu_factor_ex(batch)), {0, 2, 0});
  check_close(std::get<1>(linalg::cholesky_ex(batch)), {0, 2, 1});
  check_close(std::get<2>(linalg::ldl_factor_ex(zeros({2, 2}))), {1});
  CHECK_THROWS_WITH(linalg::cholesky_ex(batch, false, true), support::Contains("(Batch element 1)"));
  CHECK(linalg::cond(ones({2, 2}), 1).item<float>() == INFINITY);
}

TEST_CASE("backward through a decomposition without a derivative throws and names the op") {
  const Variable x = symmetric().requires_grad_();
  CHECK_THROWS_WITH(std::get<0>(geqrf(x)).sum().backward(), support::Contains("the derivative for 'geqrf'"));
  CHECK_THROWS_WITH(std::get<0>(linalg::ldl_factor(x)).sum().backward(),
                    support::Contains("linalg_ldl_factor"));
  CHECK_THROWS_WITH(std::get<1>(linalg::qr(x, "r")).sum().backward(), support::Contains("mode='r'"));
  const Variable tall = wide().mT().contiguous().requires_grad_();
  CHECK_THROWS_WITH(std::get<0>(linalg::qr(tall, "complete")).sum().backward(),
                    support::Contains("nrows > ncols"));
  CHECK_THROWS_MATCHES(linalg::eig(x), NotImplementedError,
                       support::Saying("linalg.eig: the eigenvalues of a general matrix are"));
  CHECK_THROWS_MATCHES(linalg::eigvals(x), NotImplementedError,
                       support::Saying("linalg.eigvals: the eigenvalues of a general matrix are"));
}

TEST_CASE("blocked decompositions of large matrices reproduce the matrix") {
  const Variable a = ramp({150, 150}), tall = ramp({130, 70});
  const auto [P, L, U] = linalg::lu(a);
  CHECK((matmul(matmul(P, L), U) - a).abs().max().item<double>() < 1e-11);
  const auto [Q, R] = linalg::qr(tall);
  CHECK((matmul(Q, R) - tall).abs().max().item<double>() < 1e-11);
  CHECK((matmul(Q.mT(), Q) - eye(70, kDouble)).abs().max().item<double>() < 1e-12);
  const Variable positive = matmul(tall, tall.mT()) * 1e-5 + eye(130, kDouble),
                 C = linalg::cholesky(positive);
  CHECK((matmul(C, C.mT()) - positive).abs().max().item<double>() < 1e-10);
  CHECK((linalg::solve_triangular(C, matmul(C, tall), false) - tall).abs().max().item<double>() < 1e-10);
  const auto [V, S, Wh] = linalg::svd(tall, false);
  CHECK((matmul(V * S.unsqueeze(-2), Wh) - tall).abs().max().item<double>() < 1e-11);
  CHECK(linalg::matrix_rank(matmul(tall.narrow(1, 0, 5), tall.mT().narrow(0, 0, 5))).item<std::int64_t>() <=
        5);
}

TEST_CASE("matrix_rank and pinv use the greater of atol and rtol times the largest singular value") {
  const std::vector<double> singular{8, 1, 1e-3, 1e-18};
  const Variable A = diag(tensor(singular, kDouble)), batch = stack({A, A * 1e-3});
  const std::optional<double> none;
  for (const std::optional<double> atol : {none, std::optional(0.0), std::optional(1e-2), std::optional(3.0)})
    for (const std::optional<double> rtol : {none, std::optional(0.0), std::optional(0.2)}) {
      INFO("atol " << atol.value_or(-1) << ", rtol " << rtol.value_or(-1));
      // The default of rtol is 4 epsilon, and 0 if atol is positive.
      const double relative = rtol.value_or(atol.value_or(0) > 0 ? 0 : 4 * 0x1p-52);
      const auto rank = [&](double scale) {
        const double bound = std::max(atol.value_or(0), relative * 8 * scale);
        return std::count_if(singular.begin(), singular.end(), [&](double x) { return x * scale > bound; });
      };
      const auto as_tensor = [](const std::optional<double>& x, const Shape& sizes) {
        return x ? std::optional(full(sizes, *x, kDouble)) : std::nullopt;
      };
      CHECK(linalg::matrix_rank(A, atol, rtol).item<std::int64_t>() == rank(1));
      CHECK(linalg::matrix_rank(A, as_tensor(atol, {}), as_tensor(rtol, {})).item<std::int64_t>() == rank(1));
      const Values both{static_cast<double>(rank(1)), static_cast<double>(rank(1e-3))};
      CHECK(values(linalg::matrix_rank(batch, atol, rtol)) == both);
      CHECK(values(linalg::matrix_rank(batch, as_tensor(atol, {2}), as_tensor(rtol, {2}))) == both);
      Values inverse(16);
      for (std::size_t i = 0; i < 4; ++i)
        inverse[5 * i] = static_cast<std::int64_t>(i) < rank(1) ? 1 / singular[i] : 0;
      check_close(linalg::pinv(A, atol, rtol), inverse);
      check_close(linalg::pinv(A, as_tensor(atol, {}), as_tensor(rtol, {})), inverse);
      check_close(linalg::pinv(A, atol, rtol, /*hermitian=*/true), inverse);
    }
}

TEST_CASE("lstsq returns residuals only if every matrix of the batch has full rank") {
  const Variable full_rank = ramp({4, 2}), twice = full_rank.narrow(1, 0, 1).expand({4, 2}),
                 b = ramp({4, 1}, 0.9);
  const Variable off = matmul(full_rank, std::get<0>(linalg::lstsq(full_rank, b))) - b;
  for (const char* const driver : {"gelsd", "gelss"}) {
    INFO(driver);
    const auto [X, residuals, rank, s] =
        linalg::lstsq(stack({full_rank, full_rank}), b.unsqueeze(0), nullopt, driver);
    check_close(residuals, {off.square().sum().item<double>(), off.square().sum().item<double>()});
    for (const auto& [first, second] : {std::pair(full_rank, twice), std::pair(twice, full_rank)}) {
      const auto [Y, none, ranks, t] = linalg::lstsq(stack({first, second}), b.unsqueeze(0), nullopt, driver);
      CHECK(none.numel() == 0);
      CHECK(ranks.sum().item<std::int64_t>() == 3);
    }
  }
}

TEST_CASE("inv throws and det is 0 for every singular 2 x 2 matrix of small integers") {
  for (const DType dtype : {kFloat, kDouble})
    for (int i = 0; i < 7 * 7 * 7 * 7; ++i) {
      const int a = i % 7 - 3, b = i / 7 % 7 - 3, c = i / 49 % 7 - 3, d = i / 343 - 3;
      if (a * d != b * c) continue;
      const Variable x = tensor({double(a), double(b), double(c), double(d)}, kDouble).view({2, 2}).to(dtype);
      INFO(x);
      CHECK_THROWS_WITH(linalg::inv(x), support::Contains("singular"));
      CHECK(linalg::det(x).item<double>() == 0);
      CHECK(std::get<0>(linalg::slogdet(x)).item<double>() == 0);
    }
}

TEST_CASE("det has correct first and second derivatives at every rank and near singular matrices") {
  const auto det = [](const variable_list& x) -> variable_list { return {linalg::det(x[0])}; };
  for (const std::int64_t n : {1, 2, 3, 5})
    for (std::int64_t rank = 0; rank <= n; ++rank)
      for (const double least : {0., 1e-9}) {
        INFO(n << " rows, rank " << rank << " and " << least);
        const Variable left = std::get<0>(linalg::qr((arange(n * n, kDouble) * 2.3).sin().view({n, n}))),
                       right = std::get<0>(linalg::qr((arange(n * n, kDouble) * 1.7).cos().view({n, n})));
        Variable values = full({n}, least, kDouble);
        values.narrow(0, 0, rank).copy_(arange(1, rank + 1, kDouble));
        const Variable x = matmul(left * values, right).requires_grad_();
        CHECK(autograd::gradcheck(det, {x}));
        CHECK(autograd::gradgradcheck(det, {x}));
      }
  // The gradient of det is [d, -c; -b, a] for all values of a, b, c and d.
  const Variable x = tensor({1., 2., 2., 4. + 1e-13}, kDouble).view({2, 2}).requires_grad_();
  const Variable first = autograd::grad({linalg::det(x)}, {x}, {}, true, true)[0];
  check_close(first, {4, -2, -2, 1});
  check_close(autograd::grad({(first * tensor({1., 2., 3., 5.}, kDouble).view({2, 2})).sum()}, {x})[0],
              {5, -3, -2, 1});
}

TEST_CASE("functions of a matrix with repeated eigenvalues have the right derivatives") {
  // The eigenvalues are 2, 2 and 5. The projector onto the first two is independent of the choice of
  // eigenvectors.
  const Variable Q = std::get<0>(linalg::qr(ramp({3, 3})));
  const Variable A = matmul(Q * tensor({2.0, 2.0, 5.0}), Q.mT());
  const auto projector = [](const Variable& x) {
    const Variable V = std::get<1>(linalg::eigh((x + x.mT()) / 2)).narrow(-1, 0, 2);
    return matmul(V, V.mT());
  };
  const Variable weights = ramp({3, 3}, 0.7), x = A.clone().set_requires_grad(true);
  (projector(x) * weights).sum().backward();
  CHECK(x.grad().isfinite().all().item<bool>());
  // Finite differences split the pair of eigenvalues, but the projector stays smooth.
  const double step = 1e-5;
  for (std::int64_t i = 0; i < 9; ++i) {
    Variable nearby = zeros({9}, kDouble);
    nearby[i] = step;
    nearby = nearby.view({3, 3});
    const double slope =
        (((projector(A + nearby) - projector(A - nearby)) * weights).sum() / (2 * step)).item<double>();
    CHECK(std::abs(x.grad().flatten()[i].item<double>() - slope) < 1e-7);
  }
}

TEST_CASE("functions of a matrix with repeated singular values have the right derivatives") {
  // U V^T of a multiple of a rotation, whose singular values are all equal.
  const Variable A = std::get<0>(linalg::qr(ramp({3, 3}))) * 2;
  const auto rotation = [](const Variable& x) {
    const auto [U, S, Vh] = linalg::svd(x, false);
    return matmul(U, Vh);
  };
  const Variable weights = ramp({3, 3}, 0.7), x = A.clone().set_requires_grad(true);
  (rotation(x) * weights).sum().backward();
  const double step = 1e-5;
  for (std::int64_t i = 0; i < 9; ++i) {
    Variable nearby = zeros({9}, kDouble);
    nearby[i] = step;
    nearby = nearby.view({3, 3});
    const double slope =
        (((rotation(A + nearby) - rotation(A - nearby)) * weights).sum() / (2 * step)).item<double>();
    CHECK(std::abs(x.grad().flatten()[i].item<double>() - slope) < 1e-7);
  }
}
