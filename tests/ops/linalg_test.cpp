// Matrix products and functions built on them: plain loops, rounding, in-place products.
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"

#include <functional>

// Matrix products and functions built on them, against plain loops.

using namespace product_test;

namespace {

// Returns the product of two matrices by plain loops, for any strides.
std::vector<double> loops(const Variable& a, const Variable& b) {
  const Variable x = a.detach().to(ebb::kDouble).contiguous(), y = b.detach().to(ebb::kDouble).contiguous();
  const std::int64_t m = x.size(0), k = x.size(1), n = y.size(1);
  std::vector<double> out(static_cast<std::size_t>(m * n), 0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < k; ++l) out[i * n + j] += value(x, i * k + l) * value(y, l * n + j);
  return out;
}

std::string name(const Variable& x) { return x.grad_fn() ? x.grad_fn()->name() : "none"; }

}  // namespace

TEST_CASE("mm equals plain loops for every size and layout") {
  for (const Sizes& s : {Sizes{1, 1, 1},
                         {1, 7, 5},
                         {6, 5, 1},
                         {3, 1, 4},
                         {17, 33, 9},
                         {64, 80, 70},
                         {130, 257, 190},
                         {100, 300, 3},
                         {600, 20, 530},
                         {1, 300, 1100}}) {
    const Variable a = ramp({s[0], s[1]}), b = ramp({s[1], s[2]}, 1.1);
    const std::vector<double> expected = loops(a, b);
    CHECK(error(a.mm(b), expected) < 1e-11);
    CHECK(error(a.t().contiguous().t().mm(b), expected) < 1e-11);
    CHECK(error(a.mm(b.t().contiguous().t()), expected) < 1e-11);
    CHECK(error(a.t().contiguous().t().mm(b.t().contiguous().t()), expected) < 1e-11);
    CHECK(error(a.to(ebb::kFloat).mm(b.to(ebb::kFloat)), expected) < 1e-4);
    // Steps in both dimensions, and a stride of 0.
    const Variable wide = ramp({2 * s[0], 2 * s[1]}, 0.9).slice(0, 0, 2 * s[0], 2).slice(1, 0, 2 * s[1], 2);
    CHECK(error(wide.mm(b), loops(wide, b)) < 1e-11);
    const Variable row = ramp({1, s[1]}).expand({s[0], s[1]});
    CHECK(error(row.mm(b), loops(row, b)) < 1e-11);
    const Variable sum = ebb::addmm(ebb::ones({s[0], s[2]}, ebb::kDouble), a, b, 0.5, 3);
    CHECK(error((sum - 0.5) / 3, expected) < 1e-11);
  }
}

TEST_CASE("mm with inner size 0 returns zeros, and mm of a matrix without rows is empty") {
  const Variable a = ebb::empty({2, 0}, ebb::kDouble).requires_grad_(true),
                 b = ebb::empty({0, 3}, ebb::kDouble);
  const Variable out = a.mm(b);
  CHECK(error(out, std::vector<double>(6, 0)) == 0);
  out.sum().backward();
  CHECK(a.grad().sizes() == a.sizes());
  CHECK(ebb::mm(ebb::empty({0, 3}), ebb::empty({3, 4})).sizes() == ebb::IntArrayRef({0, 4}));
  CHECK(ebb::bmm(ebb::empty({0, 2, 3}), ebb::empty({0, 3, 4})).sizes() == ebb::IntArrayRef({0, 2, 4}));
}

TEST_CASE("matrix products accept integers and 16-bit floats") {
  const Variable a = ebb::arange(6, ebb::kLong).view({2, 3}), b = ebb::arange(12, ebb::kLong).view({3, 4});
  CHECK(a.mm(b).dtype() == ebb::kLong);
  CHECK(error(a.mm(b), loops(a, b)) == 0);
  CHECK(error(ebb::addmm(ebb::ones({4}, ebb::kLong), a, b, 3, 2), [&] {
          auto r = loops(a, b);
          for (double& v : r) v = 3 + 2 * v;
          return r;
        }()) == 0);
  for (const ebb::DType d : {ebb::kHalf, ebb::kBFloat16})
    CHECK(error(a.to(d).mm(b.to(d)), loops(a, b)) == 0);  // small integers are exact
  CHECK(error(ebb::dot(a.view({6}), a.view({6})), {55}) == 0);
  CHECK_THROWS_WITH(ebb::addmm(b, a, b, 0.5, 1),
                    support::Contains("addmm: a tensor of shape [3, 4] cannot be added to a"));
}

TEST_CASE("matrix products have the right values and first and second derivatives") {
  const Variable m23 = leaf({2, 3}), m34 = leaf({3, 4}, 1), v3 = leaf({3}, 2), v4 = leaf({4}, 3),
                 v2 = leaf({2}, 4);
  const Variable b223 = leaf({2, 2, 3}, 5), b234 = leaf({2, 3, 4}, 6), m24 = leaf({2, 4}, 7);
  const auto two = [](auto f) { return [f](const Variable& a, const Variable& b) { return f(a, b); }; };
  check_grads(two([](auto& a, auto& b) { return ebb::mm(a, b); }), {m23, m34});
  check_grads(two([](auto& a, auto& b) { return ebb::mm(a.t(), b.t()); }), {m34, leaf({2, 3}, 8)});
  check_grads(two([](auto& a, auto& b) { return ebb::bmm(a, b); }), {b223, b234});
  check_grads(two([](auto& a, auto& b) { return ebb::mv(a, b); }), {m23, v3});
  check_grads(two([](auto& a, auto& b) { return ebb::dot(a, b); }), {v3, leaf({3}, 9)});
  check_grads(two([](auto& a, auto& b) { return ebb::vdot(a, b); }), {v3, leaf({3}, 9)});
  check_grads(two([](auto& a, auto& b) { return ebb::outer(a, b); }), {v3, v4});
  check_grads(two([](auto& a, auto& b) { return ebb::inner(a, b); }), {m23, leaf({4, 3})});
  check_grads(two([](auto& a, auto& b) { return ebb::kron(a, b); }), {m23, v2});
  check_grads(two([](auto& a, auto& b) { return ebb::tensordot(a, b, {1, 2}, {1, 0}); }),
              {b223, leaf({3, 2, 2})});
  check_grads(two([](auto& a, auto& b) { return ebb::cross(a, b, 1); }), {m23, leaf({2, 3}, 8)});
  check_grads([](const Variable& a) { return ebb::trace(a); }, {m34});
  for (const std::int64_t n : {0, 1, 2, 3, 5})
    check_grads([n](const Variable& a) { return ebb::matrix_power(a, n); }, {leaf({2, 2})});
  const auto three = [](auto f) {
    return [f](const Variable& a, const Variable& b, const Variable& c) { return f(a, b, c); };
  };
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::addmm(a, b, c); }), {v4, m23, m34});
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::addmm(a, b, c, 0.5, 2); }), {m24, m23, m34});
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::addmv(a, b, c, 2, 0.5); }), {v2, m23, v3});
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::addr(a, b, c, 2, 0.5); }), {m34, v3, v4});
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::addbmm(a, b, c, 2, 0.5); }),
              {m24, b223, b234});
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::baddbmm(a, b, c, 2, 0.5); }),
              {m24, b223, b234});
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::linalg::multi_dot({a, b, c}); }),
              {m23, m34, v4});
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::linear(a, b, c); }),
              {m23, leaf({5, 3}), leaf({5})});
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::linear(a, b, c); }),
              {b223, leaf({5, 3}), leaf({5})});
  check_grads(three([](auto& a, auto& b, auto& c) { return ebb::linear(a, b, c); }),
              {v3, leaf({5, 3}), leaf({5})});
  check_grads(
      [](const ebb::variable_list& t) { return ebb::variable_list{ebb::bilinear(t[0], t[1], t[2], t[3])}; },
      {m23, v2.detach().expand({2, 2}).contiguous().requires_grad_(true), leaf({4, 3, 2}), v4});
}

TEST_CASE("matmul accepts every pair of ranks and broadcasts batches") {
  const Sizes shapes[][2] = {{{3}, {3}},
                             {{3}, {3, 4}},
                             {{2, 3}, {3}},
                             {{2, 3}, {3, 4}},
                             {{2, 2, 3}, {3}},
                             {{3}, {2, 3, 4}},
                             {{2, 2, 3}, {3, 4}},
                             {{2, 3}, {2, 3, 4}},
                             {{2, 2, 3}, {2, 3, 4}},
                             {{2, 1, 2, 3}, {2, 3, 4}},
                             {{1, 2, 3}, {5, 3, 4}}};
  for (const auto& s : shapes) {
    const Variable a = leaf(s[0]), b = leaf(s[1], 1);
    check_grads([](const Variable& x, const Variable& y) { return ebb::matmul(x, y); }, {a, b});
    // The reference multiplies and sums broadcast rows of a and columns of b.
    const Variable x = s[0].size() == 1 ? a.detach().unsqueeze(0) : a.detach();
    const Variable y = s[1].size() == 1 ? b.detach().unsqueeze(1) : b.detach();
    Variable expected = (x.unsqueeze(-1) * y.unsqueeze(-3)).sum(-2);
    if (s[0].size() == 1) expected = expected.squeeze(-2);
    if (s[1].size() == 1) expected = expected.squeeze(-1);
    const Variable out = ebb::matmul(a, b);
    CHECK(out.sizes() == expected.sizes());
    CHECK(top(out - expected) < 1e-12);
  }
}

TEST_CASE(
    "in-place matrix products equal the out-of-place forms and preserve the history of their operands") {
  const Variable m = ramp({2, 3}), n = ramp({3, 4}, 1), base = ramp({2, 4}, 2);
  Variable y = base.clone();
  y.addmm_(m, n, 0.5, 2);
  CHECK(top(y - ebb::addmm(base, m, n, 0.5, 2)) == 0);
  // self is also an operand.
  Variable z = ramp({3, 3}).requires_grad_(true);
  Variable w = z * 1;
  w.addmm_(w, w);
  CHECK(top(w - (z + z.mm(z))) < 1e-14);
  w.sum().backward();
  const Variable got = z.grad().clone();
  z.mutable_grad() = Variable();
  (z + z.mm(z)).sum().backward();
  CHECK(top(got - z.grad()) < 1e-13);
  Variable v = ramp({2}).clone();
  v.addmv_(m, ramp({3}));
  CHECK(top(v - ebb::addmv(ramp({2}), m, ramp({3}))) == 0);
  Variable o = base.clone();
  o.addr_(ramp({2}), ramp({4}));
  CHECK(top(o - ebb::addr(base, ramp({2}), ramp({4}))) == 0);
  Variable leaf_self = leaf({2, 4});
  CHECK_THROWS_WITH(leaf_self.addmm_(m, n),
                    support::Contains("addmm_: a leaf Variable that requires grad is being used"));
}

TEST_CASE("addmm with beta 0 ignores NaN in self") {
  const Variable nan = ebb::full({2, 4}, NAN, ebb::kDouble);
  CHECK(finite(ebb::addmm(nan, ramp({2, 3}), ramp({3, 4}), 0)));
}

TEST_CASE("einsum supports contraction, transposition, trace and broadcasting") {
  const struct {
    const char* equation;
    std::vector<Sizes> shapes;
  } cases[] = {{"ij,jk->ik", {{2, 3}, {3, 4}}},
               {"ij,jk", {{2, 3}, {3, 4}}},
               {"ij->ji", {{2, 3}}},
               {"ij->", {{2, 3}}},
               {"ii->i", {{3, 3}}},
               {"ii->", {{3, 3}}},
               {"iij->j", {{2, 2, 3}}},
               {"i,j->ij", {{3}, {2}}},
               {"ij,ij->ij", {{2, 3}, {2, 3}}},
               {"...ij,...jk->...ik", {{2, 2, 3}, {2, 3, 4}}},
               {"...ij,jk->...ik", {{2, 2, 3}, {3, 4}}},
               {"bi,oij,bj->bo", {{2, 3}, {2, 3, 4}, {2, 4}}},
               {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}},
               {"ik,jk->", {{2, 3}, {3, 3}}},
               {",i->i", {{}, {3}}},
               {"ij,jk->ik", {{2, 1}, {3, 4}}},
               {"...i->...", {{2, 2, 3}}},
               {"...i,...i", {{2, 1, 3}, {2, 3}}}};
  for (const auto& c : cases) {
    ebb::variable_list inputs;
    for (const Sizes& s : c.shapes) inputs.push_back(leaf(s, static_cast<double>(inputs.size())));
    const std::string equation = c.equation;
    check_grads([&](const ebb::variable_list& t) { return ebb::variable_list{ebb::einsum(equation, t)}; },
                inputs);
  }
  const Variable a = ramp({2, 3}), b = ramp({3, 4}, 1), c = ramp({4, 2}, 2);
  const Variable expected = a.mm(b).mm(c);
  CHECK(top(ebb::einsum(" i j,j k , k l -> i l ", {a, b, c}) - expected) < 1e-12);
  CHECK(top(ebb::einsum("ij,jk,kl->il", {a, b, c}, {1, 2, 0, 1}) - expected) < 1e-12);
  CHECK(top(ebb::einsum("bA,Ac", {a, b}) - a.mm(b)) < 1e-12);
  CHECK(top(ebb::einsum("ba", {a}) - a.t()) == 0);
  CHECK(top(ebb::einsum("bij,bjk->bik", {ramp({2, 2, 3}), ramp({2, 3, 4})}) -
            ramp({2, 2, 3}).bmm(ramp({2, 3, 4}))) < 1e-12);
  for (const char* wrong : {"ij,jk->ik", "ijk->k", "ij->k", "ij->ii", "i1->i", "i.j->i", "ij->->i"})
    CHECK_THROWS_AS(ebb::einsum(wrong, {a}), ebb::Error);
  CHECK_THROWS_WITH(ebb::einsum("ij,jk->ik", {a, a}),
                    support::Contains("einsum: operands of \"ij,jk->ik\" disagree in the size of a"));
  CHECK_THROWS_WITH(ebb::einsum("->", {}), support::Contains("einsum: expected at least one tensor"));
}

TEST_CASE("cdist is right for every norm and has gradients at distance 0") {
  const Variable a = ramp({4, 3}), b = ramp({5, 3}, 1.3);
  for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, double(INFINITY)}) {
    std::vector<double> expected;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 5; ++j) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) {
          const double d = std::abs(value(a, i * 3 + k) - value(b, j * 3 + k));
          sum = std::isinf(p) ? std::max(sum, d) : sum + (p == 0 ? d != 0 : std::pow(d, p));
        }
        expected.push_back(p == 0 || std::isinf(p) ? sum : std::pow(sum, 1 / p));
      }
    CHECK(error(ebb::cdist(a, b, p), expected) < 1e-13);
    if (p == 0) continue;
    const auto f = [p](const Variable& x, const Variable& y) { return ebb::cdist(x, y, p); };
    check_grads(f, {leaf({4, 3}), leaf({5, 3}, 1.3)});
    check_grads(f, {leaf({2, 1, 2, 3}), leaf({2, 3, 3}, 1.3)});
    const Variable x = leaf({3, 2});
    ebb::cdist(x, x * 1, p).sum().backward();  // the distances on the diagonal are 0
    CHECK(finite(x.grad()));
    const Variable g = ebb::autograd::grad({ebb::cdist(x, x * 1, p).sum()}, {x}, {}, true, true)[0];
    CHECK(top(g - x.grad()) < 1e-12);
  }
  CHECK(ebb::cdist(ebb::empty({2, 0}), ebb::empty({3, 0})).sum().item<float>() == 0);
}

TEST_CASE("graph nodes of linear algebra have the names of torch") {
  const Variable a = leaf({2, 3}), b = leaf({3, 4}), v = leaf({3});
  CHECK(name(a.mm(b)) == "MmBackward0");
  CHECK(name(ebb::matmul(a, b)) == "MmBackward0");
  CHECK(name(ebb::bmm(leaf({2, 2, 3}), leaf({2, 3, 4}))) == "BmmBackward0");
  CHECK(name(a.mv(v)) == "MvBackward0");
  CHECK(name(v.dot(v)) == "DotBackward0");
  CHECK(name(ebb::addmm(leaf({4}), a, b)) == "AddmmBackward0");
  CHECK(name(ebb::linear(a, leaf({5, 3}), leaf({5}))) == "AddmmBackward0");
  CHECK(name(ebb::linear(a, leaf({5, 3}))) == "MmBackward0");
  CHECK(name(ebb::addmv(leaf({2}), a, v)) == "AddmvBackward0");
  CHECK(name(ebb::addr(a, leaf({2}), v)) == "AddrBackward0");
  CHECK(name(ebb::baddbmm(leaf({4}), leaf({2, 2, 3}), leaf({2, 3, 4}))) == "BaddbmmBackward0");
  CHECK(name(a.trace()) == "TraceBackward0");
  CHECK(name(ebb::cdist(a, a)) == "CdistBackward0");
  CHECK(name(ebb::cross(a, a)) == "LinalgCrossBackward0");
}

TEST_CASE("matrix products do not depend on the number of threads") {
  // One thread processes several blocks of rows.
  const Variable a = ramp({600, 500}).to(ebb::kFloat), b = ramp({500, 400}).to(ebb::kFloat);
  check_threads([&] { return a.mm(b); });
  check_threads([&] { return b.t().mm(a.t()); });
  check_threads([&] { return a.mm(b.slice(1, 0, 5)); });
  check_threads([&] { return a.mv(b.select(1, 0)); });
  check_threads([&] { return a.t().mv(ramp({600}).to(ebb::kFloat)); });
  check_threads([&] { return ebb::bmm(a.view({20, 30, 500}), b.expand({20, 500, 400})); });
}

TEST_CASE("error messages of matrix products contain the op and both shapes") {
  const Variable m23 = ramp({2, 3}), m34 = ramp({3, 4}), v3 = ramp({3}), b223 = ramp({2, 2, 3});
  check_error([&] { ebb::mm(m23, m23); }, {"mm", "[2, 3]", "3 columns meet 2 rows"});
  check_error([&] { ebb::mm(b223, m34); }, {"mm", "[2, 2, 3]", "[3, 4]"});
  check_error([&] { ebb::mm(m23, m34.to(ebb::kFloat)); }, {"mm", "Double", "Float"});
  check_error([&] { ebb::mm(m23, Variable()); }, {"mm", "undefined"});
  check_error([&] { ebb::bmm(b223, ramp({1, 3, 4})); }, {"bmm", "[2, 2, 3]", "[1, 3, 4]"});
  check_error([&] { ebb::mv(m23, ramp({4})); }, {"mv", "[2, 3]", "[4]"});
  check_error([&] { ebb::dot(m23, m23); }, {"dot", "[2, 3]"});
  check_error([&] { ebb::dot(v3, ramp({4})); }, {"dot", "[3]", "[4]"});
  check_error([&] { ebb::matmul(ramp({}), m23); }, {"matmul", "[2, 3]"});
  check_error([&] { ebb::matmul(b223, ramp({3, 3, 4})); }, {"matmul"});
  check_error([&] { ebb::addmm(v3, m23, m34); }, {"addmm", "[3]", "[2, 4]"});
  check_error([&] { ebb::linear(m23, m34); }, {"linear", "[2, 3]", "[3, 4]"});
  check_error([&] { ebb::outer(m23, v3); }, {"outer", "[2, 3]", "[3]"});
  check_error([&] { ebb::tensordot(m23, m34, {0}, {0}); }, {"tensordot", "[2, 3]", "[3, 4]"});
  check_error([&] { ebb::trace(b223); }, {"trace", "[2, 2, 3]"});
  check_error([&] { ebb::cdist(m23, m34); }, {"cdist", "[2, 3]", "[3, 4]"});
  check_error([&] { ebb::cross(m34, m34, 1); }, {"cross", "[3, 4]"});
  check_error([&] { ebb::linalg::multi_dot({m23, m23}); }, {"multi_dot", "[2, 3]"});
}

TEST_CASE("methods of matrix products have the defaults of the functions") {
  const Variable a = ramp({3, 3}), b = ramp({3, 2});
  const auto [reflectors, tau] = a.geqrf();
  CHECK(equal(reflectors.ormqr(tau, b), ebb::ormqr(reflectors, tau, b, true, false)));
  CHECK(equal(ebb::addcdiv(a, a, a + 1), a + a / (a + 1)));
  CHECK(equal(a.clone().addcdiv_(a, a + 1), a + a / (a + 1)));
  CHECK(equal(a.clone().addcmul_(a, a), a + a * a));
}

// Properties of matrix products on which compiled functions rely: addends are added with one rounding, rows
// are independent, and no result is -0.

using namespace ebb;

namespace {

struct Shape {
  std::int64_t m, k, n;
};

// The shapes cover every path of the kernel: plain loops, SIMD, few columns, one or several blocks of the
// sum, and full and partial panels.
Shape any_shape() {
  return GENERATE(values<Shape>({{3, 4, 5},
                                 {1, 300, 70},
                                 {70, 300, 1},
                                 {100, 40, 5},
                                 {5, 40, 100},
                                 {17, 1, 33},
                                 {300, 1, 200},
                                 {40, 100, 64},
                                 {33, 700, 65},
                                 {600, 129, 130}}));
}

Tensor matrix(std::int64_t rows, std::int64_t columns, DType dtype, bool transposed) {
  return transposed ? randn({columns, rows}, dtype).t() : randn({rows, columns}, dtype);
}

}  // namespace

TEST_CASE("addmm is bitwise equal to a matrix product followed by the addition of self") {
  const auto [m, k, n] = any_shape();
  const DType dtype = GENERATE(kFloat, kDouble);
  const bool left = GENERATE(false, true), right = GENERATE(false, true);
  INFO(m << " x " << k << " x " << n << (left ? ", left transposed" : "")
         << (right ? ", right transposed" : ""));
  const Tensor a = matrix(m, k, dtype, left), b = matrix(k, n, dtype, right), c = randn({m, n}, dtype);
  REQUIRE(equal(addmm(c, a, b), c + mm(a, b)));
  REQUIRE(equal(addmm(c, a, b, 1, 0.3), c + addmm(c, a, b, 0, 0.3)));
  REQUIRE(equal(addmm(c, a, b, 0.5), 0.5 * c + mm(a, b)));
  REQUIRE(equal(c.clone().addmm_(a, b), c + mm(a, b)));
}

TEST_CASE("a row of a matrix product does not depend on the number of other rows") {
  const DType dtype = GENERATE(kFloat, kDouble);
  const bool left = GENERATE(false, true);
  const std::int64_t k = GENERATE(1, 40, 300), n = GENERATE(8, 33, 200);
  const Tensor a = matrix(301, k, dtype, left), b = randn({k, n}, dtype), whole = mm(a, b);
  const auto rows = GENERATE(as<std::int64_t>{}, 64, 128, 149);
  for (std::int64_t first = 0; first + rows <= 301; first += rows)
    REQUIRE(equal(mm(a.narrow(0, first, rows), b), whole.narrow(0, first, rows)));
}

TEST_CASE("a matrix product that underflows is positive zero") {
  const auto [m, k, n] = any_shape();
  const Tensor a = full({m, k}, -1e-30, kFloat), b = full({k, n}, 1e-30, kFloat);
  const Tensor product = mm(a, b);
  REQUIRE(equal(product, zeros({m, n})));
  REQUIRE_FALSE(product.signbit().any().item<bool>());
}

// In-place products that add to one of their factors.

using V = const Variable&;

TEST_CASE("in-place products that add to their own factor have the gradients of the out-of-place form") {
  const auto x0 = op_tests::ramp({3, 3}), a0 = op_tests::ramp({3, 3}, 0.7);
  struct Way {
    const char* name;
    std::function<void(const Variable& y, const Variable& a)> in_place;
    std::function<Variable(const Variable& y, const Variable& a)> apart;
  };
  const Way ways[] = {
      {"addmm_(a, y)", [](V y, V a) { y.addmm_(a, y); }, [](V y, V a) { return y.addmm(a, y); }},
      {"addmm_(y, a)", [](V y, V a) { y.addmm_(y, a); }, [](V y, V a) { return y.addmm(y, a); }},
      {"addmm_(y, y)", [](V y, V) { y.addmm_(y, y); }, [](V y, V) { return y.addmm(y, y); }},
      {"addmm_(a, y, 2, 3)", [](V y, V a) { y.addmm_(a, y, 2, 3); },
       [](V y, V a) { return y.addmm(a, y, 2, 3); }},
      {"addmv_(a, y)",
       [](V y, V a) {
         const Variable row = y[0];
         row.addmv_(a, row);
       },
       [](V y, V a) { return cat({y[0].addmv(a, y[0]).unsqueeze(0), y.narrow(0, 1, 2)}); }},
      {"addr_(y, a)", [](V y, V a) { y.addr_(y[0].clone(), a[0]); },
       [](V y, V a) { return y.addr(y[0], a[0]); }},
      {"baddbmm_(a, y)",
       [](V y, V a) {
         const Variable batch = y.unsqueeze(0);
         batch.baddbmm_(a.unsqueeze(0), batch);
       },
       [](V y, V a) { return y.unsqueeze(0).baddbmm(a.unsqueeze(0), y.unsqueeze(0)).squeeze(0); }},
  };
  for (const Way& way : ways) {
    INFO(way.name);
    const auto gradients = [&](bool in_place) {
      const Variable x = x0.clone().set_requires_grad(true), a = a0.clone().set_requires_grad(true),
                     y = x * 1;
      Variable out = y;
      if (in_place)
        way.in_place(y, a);
      else
        out = way.apart(y, a);
      variable_list all{out.detach()};
      for (const Variable& g : autograd::grad({(out * out).sum()}, {x, a}, {}, false, false, true))
        all.push_back(g.defined() ? g : zeros({3, 3}, kDouble));
      return all;
    };
    const variable_list got = gradients(true), want = gradients(false);
    for (std::size_t i = 0; i < 3; ++i) CHECK(allclose(got[i], want[i], 1e-12, 1e-12));
  }
}
