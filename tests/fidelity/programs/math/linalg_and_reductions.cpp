// Matrix products, einsum and reductions.
#include "fidelity.h"

// Matrix products and their gradients.
namespace linalg {

using Call = Tensor (*)(const Tensors&);

void run() {
  const Tensor m23 = ramp({2, 3}), m34 = ramp({3, 4}, -2, 2, 1.0), m33 = ramp({3, 3}), v3 = ramp({3}, 1, 2),
               v4 = ramp({4});
  const Tensor b223 = ramp({2, 2, 3}), b234 = ramp({2, 3, 4}, -1, 2, 0.9), m24 = ramp({2, 4}, 0, 1);
  const struct {
    const char* name;
    Call call;
    Tensors inputs;
  } cases[] = {
      {"mm", [](const Tensors& t) { return torch::mm(t[0], t[1]); }, {m23, m34}},
      {"mm.t", [](const Tensors& t) { return t[0].t().mm(t[1]); }, {m23, m24}},
      {"bmm", [](const Tensors& t) { return torch::bmm(t[0], t[1]); }, {b223, b234}},
      {"mv", [](const Tensors& t) { return torch::mv(t[0], t[1]); }, {m23, v3}},
      {"dot", [](const Tensors& t) { return torch::dot(t[0], t[1]); }, {v3, ramp({3})}},
      {"vdot", [](const Tensors& t) { return torch::vdot(t[0], t[1]); }, {v3, ramp({3})}},
      {"inner", [](const Tensors& t) { return torch::inner(t[0], t[1]); }, {m23, m33}},
      {"outer", [](const Tensors& t) { return torch::outer(t[0], t[1]); }, {v3, v4}},
      {"ger", [](const Tensors& t) { return t[0].ger(t[1]); }, {v3, v4}},
      {"matmul.11", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {v3, ramp({3})}},
      {"matmul.12", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {v3, m34}},
      {"matmul.21", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {m23, v3}},
      {"matmul.22", [](const Tensors& t) { return t[0].matmul(t[1]); }, {m23, m34}},
      {"matmul.32", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {b223, m34}},
      {"matmul.23", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {m23, b234}},
      {"matmul.13", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {v3, b234}},
      {"matmul.31", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {b223, v3}},
      {"matmul.33", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {b223, b234}},
      {"matmul.43", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {ramp({2, 1, 2, 3}), b234}},
      {"addmm", [](const Tensors& t) { return torch::addmm(t[0], t[1], t[2]); }, {v4, m23, m34}},
      {"addmm.scaled",
       [](const Tensors& t) { return torch::addmm(t[0], t[1], t[2], 0.5, 2); },
       {m24, m23, m34}},
      {"addmv",
       [](const Tensors& t) { return torch::addmv(t[0], t[1], t[2], 2, 0.5); },
       {ramp({2}), m23, v3}},
      {"addr", [](const Tensors& t) { return torch::addr(t[0], t[1], t[2], 2, 0.5); }, {m34, v3, v4}},
      {"addbmm", [](const Tensors& t) { return torch::addbmm(t[0], t[1], t[2], 0.5, 2); }, {m24, b223, b234}},
      {"baddbmm",
       [](const Tensors& t) { return torch::baddbmm(t[0], t[1], t[2], 0.5, 2); },
       {ramp({2, 2, 4}), b223, b234}},
      {"linear",
       [](const Tensors& t) { return torch::linear(t[0], t[1], t[2]); },
       {m23, ramp({5, 3}), ramp({5})}},
      {"linear.nobias",
       [](const Tensors& t) { return torch::nn::functional::linear(t[0], t[1]); },
       {b223, ramp({5, 3})}},
      {"bilinear",
       [](const Tensors& t) { return torch::bilinear(t[0], t[1], t[2], t[3]); },
       {m23, ramp({2, 2}), ramp({4, 3, 2}), v4}},
      {"kron", [](const Tensors& t) { return torch::kron(t[0], t[1]); }, {ramp({2, 2}), ramp({1, 3}, 1, 2)}},
      {"trace", [](const Tensors& t) { return torch::trace(t[0]); }, {m34}},
      {"tensordot", [](const Tensors& t) { return torch::tensordot(t[0], t[1], {2}, {0}); }, {b223, m34}},
      {"tensordot.2",
       [](const Tensors& t) { return torch::tensordot(t[0], t[1], {1, 2}, {1, 0}); },
       {b223, ramp({3, 2, 2})}},
      {"cdist", [](const Tensors& t) { return torch::cdist(t[0], t[1]); }, {m23, ramp({4, 3}, -2, 2, 1.3)}},
      {"cdist.1",
       [](const Tensors& t) { return torch::cdist(t[0], t[1], 1); },
       {m23, ramp({4, 3}, -2, 2, 1.3)}},
      {"chain_matmul", [](const Tensors& t) { return t[0].mm(t[1]).mm(t[2]); }, {m23, m34, ramp({4, 2})}},
      {"matrix_power", [](const Tensors& t) { return torch::matrix_power(t[0], 3); }, {m33}},
      {"cross", [](const Tensors& t) { return torch::cross(t[0], t[1], 1); }, {m33, ramp({3, 3}, 1, 3, 1.7)}},
      {"pairwise_distance",
       [](const Tensors& t) { return torch::pairwise_distance(t[0], t[1]); },
       {m33, ramp({3, 3}, 1, 3, 1.7)}},
  };
  for (const auto& c : cases) grads(c.name, c.call, c.inputs, std::string(c.name).find("cdist") == 0 ? 1 : 2);

  section("cdist.zero", [] {
    grads("cdist.same", [](const Tensors& t) { return torch::cdist(t[0], t[0] * 1); }, {ramp({3, 2})}, 1);
    grads(
        "cdist.batch", [](const Tensors& t) { return torch::cdist(t[0], t[1], 3); },
        {ramp({2, 2, 3}), ramp({2, 4, 3}, 1, 2)}, 1);
  });

  section("shapes", [&] {
    report("empty.mm",
           torch::mm(torch::zeros({2, 0}, torch::kFloat64), torch::zeros({0, 3}, torch::kFloat64)));
    report("empty.bmm", torch::bmm(torch::zeros({0, 2, 3}), torch::zeros({0, 3, 4})));
    report("int.mm", torch::mm(torch::tensor({{1, 2}, {3, 4}}), torch::tensor({{5}, {6}})));
    report("int.matmul", torch::matmul(torch::tensor({1, 2}), torch::tensor({3, 4})));
    report("f32.mm", m23.to(torch::kFloat32).mm(m34.to(torch::kFloat32)));
    report("strided.mm", m34.t().mm(m23.t()));
    report("sliced.mm", m34.slice(1, 0, 4, 2).t().mm(m33));
    Tensor y = ramp({2, 4});
    y.addmm_(m23, m34, 0.5, 2);
    report("addmm_", y);
    report("multi", torch::linalg::multi_dot({m23, m34, v4}));
    report("vector_norm", torch::linalg::vector_norm(m23, 3, {}, false, torch::nullopt));
    report("frobenius_norm", torch::frobenius_norm(m23, {0, 1}));
  });

  section("refused", [&] {
    report_error("mm.shape", [&] { torch::mm(m23, m23); });
    report_error("mm.dims", [&] { torch::mm(b223, m34); });
    report_error("mm.dtype", [&] { torch::mm(m23, m34.to(torch::kFloat32)); });
    report_error("bmm.batch", [&] { torch::bmm(b223, b234.slice(0, 0, 1)); });
    report_error("bmm.dims", [&] { torch::bmm(m23, m34); });
    report_error("mv.shape", [&] { torch::mv(m23, v4); });
    report_error("dot.2d", [&] { torch::dot(m23, m23); });
    report_error("dot.size", [&] { torch::dot(v3, v4); });
    report_error("dot.dtype", [&] { torch::dot(v3, torch::ones({3})); });
    report_error("matmul.scalar", [&] { torch::matmul(torch::tensor(1.0), m23); });
    report_error("matmul.batch", [&] { torch::matmul(b223, ramp({3, 3, 4})); });
    report_error("addmm.bias", [&] { torch::addmm(v3, m23, m34); });
    report_error("linear.shape", [&] { torch::linear(m23, m34); });
    report_error("outer.2d", [&] { torch::outer(m23, v3); });
    report_error("tensordot", [&] { torch::tensordot(m23, m34, {0}, {0}); });
    report_error("trace.3d", [&] { torch::trace(b223); });
  });
}

const Program program("linalg", run);

}  // namespace linalg

// einsum: common contractions, their gradients, and invalid equations.
namespace einsum {

void einsum(const char* equation, const Tensors& inputs) {
  grads(equation, [&](const Tensors& t) { return torch::einsum(equation, t); }, inputs);
}

void run() {
  const Tensor m23 = ramp({2, 3}), m34 = ramp({3, 4}, -2, 2, 1.0), m33 = ramp({3, 3}), v3 = ramp({3}, 1, 2);
  const Tensor b223 = ramp({2, 2, 3}), b234 = ramp({2, 3, 4}, -1, 2, 0.9);
  einsum("ij,jk->ik", {m23, m34});
  einsum("ij,jk", {m23, m34});
  einsum("ij->ji", {m23});
  einsum("ji", {m23});
  einsum("ij->", {m23});
  einsum("ij->j", {m23});
  einsum("ii->", {m33});
  einsum("ii->i", {m33});
  einsum("i,i->", {v3, v3});
  einsum("i,j->ij", {v3, ramp({2})});
  einsum("ij,ij->ij", {m23, ramp({2, 3}, 1, 2)});
  einsum("bij,bjk->bik", {b223, b234});
  einsum("bij,jk->bik", {b223, m34});
  einsum("...ij,...jk->...ik", {b223, b234});
  einsum("...ij->...ji", {b223});
  einsum("...i,i->...", {b223, v3});
  einsum("ij,j->i", {m23, v3});
  einsum("bi,oij,bj->bo", {m23, ramp({2, 3, 4}), ramp({2, 4})});
  einsum("ij,jk,kl->il", {m23, m34, ramp({4, 2})});
  einsum("bhid,bhjd->bhij", {ramp({1, 2, 2, 3}), ramp({1, 2, 3, 3}, 0, 1)});
  einsum("ij,kl->ijkl", {ramp({2, 2}), ramp({1, 3})});
  einsum("iij->j", {ramp({2, 2, 3})});
  einsum("ik,jk->", {m23, m33});
  einsum(",i->i", {ramp({}), v3});
  section("spelling", [&] {
    report("spaces", torch::einsum(" i j , j k -> i k ", {m23, m34}));
    report("capital", torch::einsum("Ab,bC->AC", {m23, m34}));
    report("order", torch::einsum("ba", {m23}));
    report("int", torch::einsum("ij,jk->ik", {torch::tensor({{1, 2}}), torch::tensor({{3}, {4}})}));
    report("one", torch::einsum("ij,jk->ik", {ramp({2, 1}), ramp({3, 4})}));
    report_error("count", [&] { torch::einsum("ij,jk->ik", {m23}); });
    report_error("size", [&] { torch::einsum("ij,jk->ik", {m23, m23}); });
    report_error("dims", [&] { torch::einsum("ijk->k", {m23}); });
    report_error("output", [&] { torch::einsum("ij->k", {m23}); });
    report_error("twice", [&] { torch::einsum("ij->ii", {m23}); });
    report_error("symbol", [&] { torch::einsum("i1->i", {m23}); });
    report_error("none", [&] { torch::einsum("->", {}); });
  });
}

const Program program("einsum", run);

}  // namespace einsum

// Reductions: all forms of dims and keepdim, empty tensors, ties, NaN, zeros in products.
namespace reductions {

struct Case {
  const char* name;
  Tensor (*call)(const Tensor&);
};

void run() {
  const Case cases[] = {
      {"sum", [](const Tensor& x) { return torch::sum(x); }},
      {"sum.dim", [](const Tensor& x) { return x.sum(1); }},
      {"sum.dims", [](const Tensor& x) { return x.sum({-1, 0}); }},
      {"sum.keep", [](const Tensor& x) { return torch::sum(x, torch::IntArrayRef({0, 2}), true); }},
      {"mean", [](const Tensor& x) { return x.mean(); }},
      {"mean.dims", [](const Tensor& x) { return torch::mean(x, {2, 1}, true); }},
      {"mean.dim", [](const Tensor& x) { return x.mean(-1); }},
      {"prod", [](const Tensor& x) { return torch::prod(x); }},
      {"prod.dim", [](const Tensor& x) { return x.prod(1, true); }},
      {"max", [](const Tensor& x) { return torch::max(x); }},
      {"min", [](const Tensor& x) { return x.min(); }},
      {"max.dim", [](const Tensor& x) { return std::get<0>(torch::max(x, 1)); }},
      {"min.dim", [](const Tensor& x) { return std::get<0>(x.min(-1, true)); }},
      {"amax", [](const Tensor& x) { return torch::amax(x, {0, 1}); }},
      {"amin", [](const Tensor& x) { return x.amin({1}, true); }},
      {"amax.all", [](const Tensor& x) { return torch::amax(x); }},
      {"median", [](const Tensor& x) { return torch::median(x); }},
      {"median.dim", [](const Tensor& x) { return std::get<0>(torch::median(x, 2)); }},
      {"mode", [](const Tensor& x) { return std::get<0>(torch::mode(x, 1)); }},
      {"var", [](const Tensor& x) { return torch::var(x); }},
      {"var.biased", [](const Tensor& x) { return x.var(false); }},
      {"var.dims", [](const Tensor& x) { return torch::var(x, {2, 1}, true, true); }},
      {"std", [](const Tensor& x) { return torch::std(x); }},
      {"std.dim", [](const Tensor& x) { return x.std({1}, false, true); }},
      {"var_mean",
       [](const Tensor& x) {
         auto [var, mean] = torch::var_mean(x, {1}, true);
         return var * mean;
       }},
      {"std_mean",
       [](const Tensor& x) {
         auto [std, mean] = torch::std_mean(x, false);
         return std * mean;
       }},
      {"norm", [](const Tensor& x) { return x.norm(); }},
      {"norm.p", [](const Tensor& x) { return torch::norm(x, 3); }},
      {"norm.p1", [](const Tensor& x) { return torch::norm(x, 1, {1}); }},
      {"norm.p15", [](const Tensor& x) { return x.norm(1.5, {2, 0}, true); }},
      {"norm.inf", [](const Tensor& x) { return x.norm(kInf, 1); }},
      {"norm.minf", [](const Tensor& x) { return x.norm(-kInf, 1); }},
      {"norm.p0", [](const Tensor& x) { return x.norm(0, 1); }},
      {"logsumexp", [](const Tensor& x) { return torch::logsumexp(x, 1); }},
      {"logsumexp.dims", [](const Tensor& x) { return x.logsumexp({2, 0}, true); }},
      {"nansum", [](const Tensor& x) { return torch::nansum(x); }},
      {"nanmean", [](const Tensor& x) { return torch::nanmean(x, {1}); }},
      {"kthvalue", [](const Tensor& x) { return std::get<0>(torch::kthvalue(x, 2, 1)); }},
  };
  for (const Case& c : cases) {
    grad1(c.name, c.call, ramp({2, 3, 2}, -2, 2));
    section(c.name,
            [&] { report(std::string("f32.") + c.name, c.call(ramp({2, 3, 2}).to(torch::kFloat32))); });
  }

  // Ties and zeros.
  const Tensor ties =
      torch::tensor({{{1., 1.}, {3., 3.}, {3., 1.}}, {{0., 3.}, {0., 3.}, {1., 0.}}}, torch::kFloat64);
  for (const Case& c : cases) {
    if (std::string(c.name).find("mode") == 0)
      continue;  // torch does not specify which of equal elements it returns
    if (std::string(c.name).find("kth") == 0) continue;
    if (std::string(c.name).find("median") == 0) continue;
    grad1(std::string("ties.") + c.name, c.call, ties, 1);
  }
  // NaN.
  const Tensor holes = torch::tensor({{{1., kNan}, {3., 2.}, {5., 1.}}}, torch::kFloat64);
  for (const Case& c : cases)
    if (std::string(c.name).find("mode") != 0) grad1(std::string("nan.") + c.name, c.call, holes, 1);

  section("prod.zeros", [] {
    grad1(
        "prod.zero1", [](const Tensor& x) { return x.prod(); }, torch::tensor({2., 0., 3.}, torch::kFloat64));
    // Only the first order: with two zeros, libtorch returns a gradient without a graph.
    grad1(
        "prod.zero2", [](const Tensor& x) { return x.prod(); }, torch::tensor({2., 0., 0.}, torch::kFloat64),
        1);
    grad1(
        "prod.rows", [](const Tensor& x) { return x.prod(1); },
        torch::tensor({{2., 0., 3.}, {0., 0., 4.}, {1., 2., 3.}}, torch::kFloat64));
    grad1("norm2.zero", [](const Tensor& x) { return x.norm(); }, torch::zeros({3}, torch::kFloat64), 1);
    grad1(
        "norm2.zerodim", [](const Tensor& x) { return x.norm(2, 1); }, torch::zeros({2, 3}, torch::kFloat64),
        1);
    grad1(
        "norminf.ties", [](const Tensor& x) { return x.norm(kInf, 0); },
        torch::tensor({2., -2., 1.}, torch::kFloat64), 1);
    grad1("std.constant", [](const Tensor& x) { return x.std(); }, torch::ones({3}, torch::kFloat64), 1);
    grad1(
        "logsumexp.inf", [](const Tensor& x) { return x.logsumexp(0); },
        torch::tensor({-kInf, -kInf, 1.0}, torch::kFloat64), 1);
    report("logsumexp.minf", torch::full({2}, -kInf, torch::kFloat64).logsumexp(0));
  });

  section("empty", [] {
    const Tensor none = torch::zeros({0, 3}, torch::kFloat64);
    report("empty.sum", none.sum());
    report("empty.sum0", none.sum(0));
    report("empty.sum1", none.sum(1));
    report("empty.prod", none.prod());
    report("empty.mean", none.mean());
    report("empty.mean0", none.mean(0));
    report("empty.var", none.var());
    report("empty.norm", none.norm());
    report("empty.all", none.to(torch::kBool).all());
    report("empty.any", none.to(torch::kBool).any());
    report("empty.logsumexp", none.logsumexp(0));
    report("empty.max1", std::get<0>(none.max(1)));
    report_error("empty.max", [&] { none.max(); });
    report_error("empty.max0", [&] { none.max(0); });
    report_error("empty.argmax", [&] { none.argmax(); });
    report_error("empty.amax", [&] { none.amax({0}); });
    report_error("empty.median", [] { torch::median(torch::zeros({0, 2}), 0); });
  });

  section("indices", [] {
    const Tensor x = torch::tensor({{3, 1, 2}, {4, 9, 9}}, torch::kFloat64);
    report("argmax", x.argmax());
    report("argmax.dim", torch::argmax(x, 1));
    report("argmin.keep", x.argmin(0, true));
    report("max.indices", std::get<1>(x.max(1)));
    report("min.indices", std::get<1>(torch::min(x, 0, true)));
    report("median.index", std::get<1>(x.median(1)));
    auto [low, high] = torch::aminmax(x, 1);
    report("aminmax.low", low);
    report("aminmax.high", high);
    report("aminmax.all", std::get<1>(x.aminmax()));
    report("any", torch::any(x > 8));
    report("any.dim", (x > 2).any(1));
    report("all", (x > 0).all());
    report("all.dim", torch::all(x > 1, 1, true));
    report("any.float", torch::any(x, 0));
    report("count_nonzero", torch::count_nonzero(x > 2));
    report("count_nonzero.dim", (x - 9).count_nonzero(torch::IntArrayRef({1})));
    report("sum.bool", (x > 2).sum());
    report("sum.int", torch::tensor({1, 2, 3}, torch::kInt32).sum());
    report("sum.dtype", torch::sum(torch::tensor({1, 2, 3}), torch::kFloat64));
    report("sum.dim_dtype", torch::sum(x, {1}, false, torch::kFloat32));
    report("mean.dtype", torch::mean(torch::tensor({1, 2, 4}), torch::kFloat64));
    report("prod.int", torch::prod(torch::tensor({2, 3, 7})));
    report("max.int", torch::tensor({5, 7, 2}).max());
    report("bincount", torch::bincount(torch::tensor({1, 1, 3})));
    report("bincount.weights",
           torch::bincount(torch::tensor({1, 1, 3}), torch::tensor({.5, 1., 2.}, torch::kFloat64), 6));
    report("scalar.sum", torch::tensor(2.5).sum(0));
    report("scalar.max", std::get<1>(torch::tensor(2.5).max(0)));
    report_error("mean.int", [] { torch::mean(torch::tensor({1, 2})); });
    report_error("sum.range", [&] { x.sum(2); });
    report_error("sum.twice", [&] { x.sum({1, 1}); });
    report_error("var.int", [] { torch::var(torch::tensor({1, 2})); });
    report_error("logsumexp.range", [&] { x.logsumexp(5); });
    report_error("bincount.negative", [] { torch::bincount(torch::tensor({-1})); });
  });
}

const Program program("reductions", run);

}  // namespace reductions
